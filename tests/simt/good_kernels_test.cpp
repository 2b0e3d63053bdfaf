// Correct kernels on the simt device: tails, shared memory, clusters, several at once.
#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "tests/simt/kernel_text.h"

namespace sinter::simt_test {
namespace {

std::vector<float> counting(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0F);
  return values;
}

KernelText add_kernel() {
  return {.body = R"(
  SN_INPUT(f32, a, 0);
  SN_INPUT(f32, b, 1);
  SN_OUTPUT(f32, out, 2);
  const idx n = (idx)arguments.words[3];
  wait_for_previous_kernel();
  const idx at = (block_index() * SN_THREADS + thread_index()) * 4;
  f32 x[4], y[4];
  load_part<4, 4, kOften>(x, a, at, n - at, 0.f);
  load_part<4, 4, kOften>(y, b, at, n - at, 0.f);
  for (int v = 0; v < 4; ++v) x[v] += y[v];
  store_part<4, 4>(out, at, n - at, x);
  let_next_kernel_start();)",
          .words = 5,
          .threads = 64};
}

void expect_adds(std::size_t count) {
  auto a = counting(count);
  auto b = counting(count);
  std::vector<float> out(count, -1);
  const auto grid = static_cast<std::int64_t>((count + 255) / 256);
  launch(add_kernel(), {bound(a), bound(b), bound(out)}, {static_cast<std::int64_t>(count)}, grid);
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(out[i], 2 * a[i]) << i;
}

TEST(SimtGoodKernels, VectorsWithTails) {
  for (std::size_t count : {1, 4, 255, 256, 257, 1003}) expect_adds(count);
}

// The row's threads are G of a block of 128.
KernelText sum_kernel(int per_row, int cluster) {
  return {.body = fmt::format(R"(
  constexpr int G = {};
  SN_INPUT(f32, in0, 0);
  SN_OUTPUT(f32, out0, 1);
  const idx n = (idx)arguments.words[2];
  wait_for_previous_kernel();
  SN_SHARED(f32, slots, SN_THREADS / G * kSlots<G>);
#if SN_CLUSTER > 1
  cluster_has_started();
  wait_for_cluster();
#endif
  const idx row = block_index() / SN_CLUSTER * (SN_THREADS / G) + thread_index() / G;
  f32 total = 0;
  for (idx at = cluster_rank() * G + thread_index() % G; at < n; at += G * SN_CLUSTER)
    total += load_one(in0, row * n + at);
  total = reduce_lanes<Sum, (G < 32 ? G : 32)>(total);
  if (kSlots<G> > 1) {{
    put_part<G>(slots, thread_index() / G, total);
#if SN_CLUSTER > 1
    cluster_barrier();
#else
    block_barrier();
#endif
    total = take_parts<Sum, G>(slots, thread_index() / G, 0.f);
  }}
  if (cluster_rank() == 0 && thread_index() % G == 0) store_one(out0, row, total);)",
                              per_row),
          .words = 4,
          .threads = 128,
          .cluster = cluster};
}

void expect_sums(int per_row, int cluster) {
  SCOPED_TRACE(fmt::format("{} threads a row, clusters of {}", per_row, cluster));
  constexpr std::int64_t kGrid = 3;
  constexpr std::size_t kCols = 533;
  const auto rows = static_cast<std::size_t>(kGrid * 128 / per_row);
  std::vector<float> in(rows * kCols);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 17);
  std::vector<float> out(rows, -1);
  launch(sum_kernel(per_row, cluster), {bound(in), bound(out)}, {kCols}, kGrid);
  for (std::size_t row = 0; row < rows; ++row) {
    const auto begin = in.begin() + static_cast<std::ptrdiff_t>(row * kCols);
    ASSERT_EQ(out[row], std::accumulate(begin, begin + kCols, 0.0F)) << row;
  }
}

TEST(SimtGoodKernels, RowsOfLanesWarpsAndClusters) {
  expect_sums(8, 1);
  expect_sums(32, 1);
  expect_sums(128, 1);
  expect_sums(128, 2);
  expect_sums(128, 8);
}

TEST(SimtGoodKernels, TransposesThroughSharedMemory) {
  const KernelText kernel{.body = R"(
  SN_INPUT(i32, from, 0);
  SN_OUTPUT(i32, to, 1);
  const idx n = (idx)arguments.words[2];
  wait_for_previous_kernel();
  SN_SHARED(i32, tile, 16 * 17);
  const idx tiles = (n + 15) / 16;
  const idx row = block_index() / tiles * 16, col = block_index() % tiles * 16;
  const i32 y = thread_index() / 16, x = thread_index() % 16;
  if (row + y < n && col + x < n) put(tile, y * 17 + x, load_one(from, (row + y) * n + col + x));
  block_barrier();
  if (col + y < n && row + x < n) store_one(to, (col + y) * n + row + x, get(tile, x * 17 + y));)",
                          .words = 4,
                          .threads = 256};
  constexpr std::int64_t kSize = 37;
  std::vector<std::int32_t> from(kSize * kSize);
  std::iota(from.begin(), from.end(), 0);
  std::vector<std::int32_t> to(from.size(), -1);
  launch(kernel, {bound(from), bound(to)}, {kSize}, 9);
  for (std::size_t i = 0; i < from.size(); ++i)
    ASSERT_EQ(to[i], from[i % kSize * kSize + i / kSize]);
}

TEST(SimtGoodKernels, LanesExchangeEveryType) {
  const KernelText kernel{.body = R"(
  SN_OUTPUT(f64, out, 0);
  wait_for_previous_kernel();
  const i32 t = thread_index();
  const i64 other = shuffle_xor((i64)t << 40, 5);
  const bool odd = shuffle_xor(t % 2 == 1, 1);
  const Placed<f32, i32> placed = shuffle_xor(Placed<f32, i32>{(f32)t, -t}, 16);
  store_one(out, t, (f64)(other >> 40) + 1000. * odd + 1e4 * placed.value - 1e8 * placed.position);)",
                          .words = 2,
                          .threads = 64};
  std::vector<double> out(64, -1);
  launch(kernel, {bound(out)}, {}, 1);
  for (int t = 0; t < 64; ++t)
    ASSERT_EQ(out[static_cast<std::size_t>(t)],
              (t ^ 5) + 1000 * (t % 2 == 0) + 1e4 * (t ^ 16) + 1e8 * (t ^ 16));
}

TEST(SimtGoodKernels, ManyBarriersInALoop) {
  const KernelText kernel{.body = R"(
  SN_OUTPUT(i32, out, 0);
  wait_for_previous_kernel();
  SN_SHARED(i32, ring, SN_THREADS);
  const i32 t = thread_index();
  put(ring, t, t);
  for (int i = 0; i < 1000; ++i) {
    block_barrier();
    const i32 next = get(ring, (t + 1) % SN_THREADS);
    block_barrier();
    put(ring, t, next);
  }
  store_one(out, block_index() * SN_THREADS + t, get(ring, t));)",
                          .words = 2,
                          .threads = 96};
  std::vector<std::int32_t> out(96 * 4, -1);
  launch(kernel, {bound(out)}, {}, 4);
  for (int i = 0; i < 96 * 4; ++i)
    ASSERT_EQ(out[static_cast<std::size_t>(i)], (i % 96 + 1000) % 96);
}

TEST(SimtGoodKernels, UnalignedBuffersElementByElement) {
  KernelText kernel = add_kernel();
  kernel.aligned = false;
  auto a = counting(101);
  std::vector<float> out(101, -1);
  const tile::BufferBinding in{a.data() + 1, 100};
  launch(kernel, {in, in, {out.data() + 1, 100}}, {100}, 1);
  for (std::size_t i = 1; i < 101; ++i) ASSERT_EQ(out[i], 2 * a[i]);
  EXPECT_EQ(out[0], -1);
}

TEST(SimtGoodKernels, TwoThreadsLaunchAtOnce) {
  std::thread other([] {
    for (int i = 0; i < 20; ++i) expect_adds(5000);
  });
  for (int i = 0; i < 20; ++i) expect_sums(128, 2);
  other.join();
}

TEST(SimtGoodKernels, NothingToRun) {
  std::vector<float> out;
  EXPECT_NO_THROW(launch(add_kernel(), {bound(out), bound(out), bound(out)}, {0}, 0));
}

}  // namespace
}  // namespace sinter::simt_test
