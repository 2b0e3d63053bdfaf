// Wrong kernels on the simt device: the message for each, and that the device stays usable.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>

#include "tests/simt/kernel_text.h"

namespace sinter::simt_test {
namespace {

// The line number of `part` in the kernel's whole text.
int line_of(const KernelText& kernel, const std::string& part) {
  const std::string text =
      std::string(kernel_header("simt/interface.h")) + source_of(kernel).text();
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<long>(at), '\n'));
}

// "thread 3 of block 0 (line 812: x = y;)" for the line that begins so.
std::string at(const KernelText& kernel, int thread, int block, const std::string& line) {
  return fmt::format("thread {} of block {} (line {}: {})", thread, block, line_of(kernel, line),
                     line);
}

const std::string kBegin =
    "SN_INPUT(f32, in0, 0);\nSN_OUTPUT(f32, out0, 1);\nwait_for_previous_kernel();\n"
    "const i32 t = thread_index();\n";

// Run on 40 elements.
std::string error_on_forty(const KernelText& kernel, std::int64_t grid = 2) {
  std::vector<float> in(40, 1);
  std::vector<float> out(40, 2);
  return error_of(kernel, {bound(in), bound(out)}, {}, grid);
}

KernelText kernel_of(const std::string& rest, int threads = 32, int cluster = 1) {
  return {.body = kBegin + rest, .words = 3, .threads = threads, .cluster = cluster};
}

constexpr char kTag[] = "[simt] kernel sinter_test: ";

// --- global memory ---

TEST(SimtWrongKernels, ReadsBehindABuffer) {
  const KernelText kernel = kernel_of("f32 x = load_one(in0, block_index() * 32 + t);");
  EXPECT_EQ(error_on_forty(kernel),
            kTag + at(kernel, 8, 1, "f32 x = load_one(in0, block_index() * 32 + t);") +
                " reads in0[40], which has 40 elements");
}

TEST(SimtWrongKernels, ReadsAndWritesBeforeABuffer) {
  const KernelText reads = kernel_of("out0.check(0, 1, 1, 0);\nload_one(in0, t - 1);");
  EXPECT_EQ(error_on_forty(reads), kTag + at(reads, 0, 0, "load_one(in0, t - 1);") +
                                       " reads in0[-1], which has 40 elements");
  const KernelText writes = kernel_of("if (t == 5)\nstore_one(out0, -7, 1.f);");
  EXPECT_EQ(error_on_forty(writes), kTag + at(writes, 5, 0, "store_one(out0, -7, 1.f);") +
                                        " writes out0[-7], which has 40 elements");
  const KernelText back = kernel_of("load_back_one(out0, 40);");
  EXPECT_EQ(error_on_forty(back), kTag + at(back, 0, 0, "load_back_one(out0, 40);") +
                                      " reads out0[40], which has 40 elements");
}

TEST(SimtWrongKernels, VectorsPartlyOutside) {
  const KernelText reads = kernel_of("f32 x[4];\nload_vector<4, 4, kOften>(x, in0, (t + 7) * 4);");
  EXPECT_EQ(error_on_forty(reads),
            kTag + at(reads, 3, 0, "load_vector<4, 4, kOften>(x, in0, (t + 7) * 4);") +
                " reads in0[40 to 43], which has 40 elements");
  const KernelText writes = kernel_of("f32 x[8] = {};\nstore_vector<8, 8>(out0, 40 - 4, x);");
  EXPECT_EQ(error_on_forty(writes), kTag +
                                        at(writes, 0, 0, "store_vector<8, 8>(out0, 40 - 4, x);") +
                                        " writes out0[36 to 43], which has 40 elements");
}

TEST(SimtWrongKernels, MisalignedVectors) {
  const KernelText reads = kernel_of("f32 x[4];\nload_vector<4, 4, kOften>(x, in0, t * 2);");
  EXPECT_EQ(error_on_forty(reads),
            kTag + at(reads, 1, 0, "load_vector<4, 4, kOften>(x, in0, t * 2);") +
                " reads in0[2 to 5] at once, at an address that is not a multiple of 16");
  const KernelText writes = kernel_of("f32 x[2] = {};\nstore_vector<2, 2>(out0, 3, x);");
  EXPECT_EQ(error_on_forty(writes),
            kTag + at(writes, 0, 0, "store_vector<2, 2>(out0, 3, x);") +
                " writes out0[3 to 4] at once, at an address that is not a multiple of 8");
}

TEST(SimtWrongKernels, TouchesMemoryBeforeThePreviousKernelHasEnded) {
  const KernelText kernel{.body =
                              "SN_INPUT(f32, in0, 0);\nload_one(in0, 0);\n"
                              "wait_for_previous_kernel();",
                          .words = 3};
  EXPECT_EQ(error_on_forty(kernel), kTag + at(kernel, 0, 0, "load_one(in0, 0);") +
                                        " reads in0[0] before it waits for the previous kernel");
}

// --- barriers ---

TEST(SimtWrongKernels, AThreadEndsBeforeABarrier) {
  const KernelText kernel = kernel_of("if (t == 40) return;\nblock_barrier();", 64);
  EXPECT_EQ(error_on_forty(kernel, 3),
            kTag + ("barrier not reached by all threads: " + at(kernel, 0, 0, "block_barrier();")) +
                " waits at its block's barrier, but thread 40 of block "
                "0 has ended");
}

TEST(SimtWrongKernels, ThreadsWaitAtDifferentBarriers) {
  const KernelText kernel =
      kernel_of("if (t < 32)\nblock_barrier(/*low*/);\nelse\nblock_barrier(/*high*/);", 64);
  EXPECT_EQ(
      error_on_forty(kernel),
      kTag +
          ("barrier not reached by all threads: " + at(kernel, 0, 0, "block_barrier(/*low*/);")) +
          " waits at its block's barrier, but " + at(kernel, 63, 0, "block_barrier(/*high*/);") +
          " waits at its block's barrier");
}

TEST(SimtWrongKernels, LanesOfAWarpDiverge) {
  const KernelText ended = kernel_of("if (t % 32 < 16)\nshuffle_xor(t, 1);", 64);
  EXPECT_EQ(error_on_forty(ended),
            kTag +
                ("barrier not reached by all threads: " + at(ended, 0, 0, "shuffle_xor(t, 1);")) +
                " waits for its warp's exchange, but thread 16 of block 0 has ended");
  const KernelText elsewhere = kernel_of(
      "if (t == 33)\nblock_barrier();\nelse\nshuffle_xor(t, 1);\nif (t != 33)\n  block_barrier();",
      64);
  EXPECT_EQ(
      error_on_forty(elsewhere),
      kTag + ("barrier not reached by all threads: " + at(elsewhere, 32, 0, "shuffle_xor(t, 1);")) +
          " waits for its warp's exchange, but " + at(elsewhere, 33, 0, "block_barrier();") +
          " waits at its block's barrier");
}

TEST(SimtWrongKernels, LanesThatAreNotThere) {
  const KernelText kernel = kernel_of("shuffle_xor(t, 32);");
  EXPECT_EQ(error_on_forty(kernel), kTag + at(kernel, 0, 0, "shuffle_xor(t, 32);") +
                                        " exchanges with lane 32 of a warp of 32");
}

TEST(SimtWrongKernels, ABlockLeavesItsCluster) {
  const KernelText kernel =
      kernel_of("if (cluster_rank() == 1) return;\ncluster_barrier();", 32, 2);
  EXPECT_EQ(error_on_forty(kernel, 1),
            kTag +
                ("barrier not reached by all threads: " + at(kernel, 0, 0, "cluster_barrier();")) +
                " waits at its cluster's barrier, but thread 0 of block 1 has ended");
}

TEST(SimtWrongKernels, HalvesOfAClusterBarrierOutOfTurn) {
  const KernelText waits = kernel_of("wait_for_cluster();", 32, 2);
  EXPECT_EQ(error_on_forty(waits, 1),
            kTag + at(waits, 0, 0, "wait_for_cluster();") +
                " waits for the cluster, but has not said that it has started");
  const KernelText twice = kernel_of("cluster_has_started();\ncluster_barrier();", 32, 2);
  EXPECT_EQ(error_on_forty(twice, 1),
            kTag + at(twice, 0, 0, "cluster_barrier();") +
                " arrives at the cluster's barrier again, before it waits for it");
}

// --- shared memory ---

TEST(SimtWrongKernels, IndicesOutsideAnArray) {
  const KernelText writes = kernel_of("SN_SHARED(f32, slots, 30);\nput(slots, t, 1.f);");
  EXPECT_EQ(error_on_forty(writes), kTag + at(writes, 30, 0, "put(slots, t, 1.f);") +
                                        " writes slots[30], which has 30 elements");
  const KernelText reads = kernel_of(
      "SN_SHARED(i32, slots, 32);\nput(slots, t, t);\nstore_one(out0, t, (f32)get(slots, t - 1));");
  EXPECT_EQ(error_on_forty(reads),
            kTag + at(reads, 0, 0, "store_one(out0, t, (f32)get(slots, t - 1));") +
                " reads slots[-1], which has 32 elements");
}

TEST(SimtWrongKernels, ReadsUninitializedSharedMemory) {
  const KernelText kernel = kernel_of(
      "SN_SHARED(f32, slots, 64);\nput(slots, t, 1.f);\nblock_barrier();\n"
      "store_one(out0, t, (f32)get(slots, t + 8));");
  EXPECT_EQ(error_on_forty(kernel),
            kTag + at(kernel, 24, 0, "store_one(out0, t, (f32)get(slots, t + 8));") +
                " reads slots[32], which was never written");
}

// Values written by the previous block do not count.
TEST(SimtWrongKernels, ReadsWhatAnotherBlockWrote) {
  const KernelText kernel = kernel_of(
      "SN_SHARED(f32, slots, 32);\nif (block_index() == 0) put(slots, t, 1.f);\nblock_barrier();\n"
      "store_one(out0, t, (f32)get(slots, t));");
  const std::string error = error_on_forty(kernel);
  EXPECT_EQ(error, kTag + at(kernel, 0, 1, "store_one(out0, t, (f32)get(slots, t));") +
                       " reads slots[0], which was never written");
}

TEST(SimtWrongKernels, ABarrierIsMissingBeforeReading) {
  const KernelText kernel = kernel_of(
      "SN_SHARED(f32, slots, 32);\nput(slots, t, 1.f);\nstore_one(out0, t, (f32)get(slots, 31 - "
      "t));");
  EXPECT_EQ(error_on_forty(kernel),
            kTag +
                ("race on slots[16]: " +
                 at(kernel, 15, 0, "store_one(out0, t, (f32)get(slots, 31 - t));")) +
                " reads it, " + at(kernel, 16, 0, "put(slots, t, 1.f);") +
                " writes it, with no barrier between");
}

TEST(SimtWrongKernels, ABarrierIsMissingBeforeWritingAgain) {
  const KernelText kernel = kernel_of(
      "SN_SHARED(i32, slots, 32);\nput(slots, t, 1);\nblock_barrier();\n"
      "const i32 seen = get(slots, t ^ 1);\nput(slots, t, seen);");
  EXPECT_EQ(error_on_forty(kernel),
            kTag + ("race on slots[0]: " + at(kernel, 0, 0, "put(slots, t, seen);")) +
                " writes it, " + at(kernel, 1, 0, "const i32 seen = get(slots, t ^ 1);") +
                " reads it, with no barrier between");
}

TEST(SimtWrongKernels, TwoThreadsWriteTheSameElement) {
  const KernelText kernel = kernel_of("SN_SHARED(i32, slots, 32);\nput(slots, t / 2, 1);");
  EXPECT_EQ(error_on_forty(kernel),
            kTag + ("race on slots[0]: " + at(kernel, 0, 0, "put(slots, t / 2, 1);")) + " and " +
                at(kernel, 1, 0, "put(slots, t / 2, 1);") + " write it, with no barrier between");
}

TEST(SimtWrongKernels, AnExchangeIsNoBarrier) {
  const KernelText kernel = kernel_of(
      "SN_SHARED(i32, slots, 32);\nput(slots, t, 1);\nshuffle_xor(t, 1);\nconst i32 x = get(slots, "
      "t ^ 1);");
  const std::string error = error_on_forty(kernel);
  EXPECT_EQ(error.find(kTag + std::string("race on slots[")), 0U) << error;
}

// --- clusters ---

const std::string kSync = "cluster_has_started();\nwait_for_cluster();\n";

TEST(SimtWrongKernels, PutsIntoABlockThatMayNotHaveStarted) {
  const KernelText kernel = kernel_of(
      "SN_SHARED(i32, slots, 32);\nput_in_block(slots, t, 1 - cluster_rank(), t);", 32, 2);
  EXPECT_EQ(error_on_forty(kernel, 1),
            kTag + at(kernel, 0, 0, "put_in_block(slots, t, 1 - cluster_rank(), t);") +
                " puts slots[0] into block 1 of the cluster, which may not have started: no wait "
                "for the cluster before");
}

TEST(SimtWrongKernels, PutsIntoABlockThatMayHaveEnded) {
  const KernelText kernel = kernel_of(
      "SN_SHARED(i32, slots, 32);\n" + kSync + "put_in_block(slots, t, 1 - cluster_rank(), t);", 32,
      2);
  EXPECT_EQ(error_on_forty(kernel, 1),
            kTag + at(kernel, 0, 0, "put_in_block(slots, t, 1 - cluster_rank(), t);") +
                " puts slots[0] into block 1 of the cluster, which may have ended: no cluster "
                "barrier follows");
}

TEST(SimtWrongKernels, ABlockBarrierDoesNotOrderAClustersBlocks) {
  const KernelText kernel =
      kernel_of("SN_SHARED(i32, slots, 32);\n" + kSync +
                    "put_in_block(slots, t, 1 - cluster_rank(), t);\nblock_barrier();\n"
                    "const i32 x = get(slots, t);\ncluster_barrier();",
                32, 2);
  EXPECT_EQ(error_on_forty(kernel, 1),
            kTag +
                ("race on slots[0]: " +
                 at(kernel, 0, 1, "put_in_block(slots, t, 1 - cluster_rank(), t);")) +
                " writes it, " + at(kernel, 0, 0, "const i32 x = get(slots, t);") +
                " reads it, with no barrier between");
}

TEST(SimtWrongKernels, PutsIntoABlockThatTheClusterDoesNotHave) {
  const KernelText kernel =
      kernel_of("SN_SHARED(i32, slots, 32);\n" + kSync + "put_in_block(slots, t, 2, t);", 32, 2);
  EXPECT_EQ(error_on_forty(kernel, 1), kTag + at(kernel, 0, 0, "put_in_block(slots, t, 2, t);") +
                                           " puts slots[0] into block 2 of a cluster of 2");
}

// --- exchange barriers (mbarriers) and prefetch ---

// Each block's first thread stores 4 bytes into both.
KernelText exchange_of(const std::string& bytes, const std::string& parity) {
  return kernel_of("SN_SHARED(i32, slots, 2);\nSN_EXCHANGES(exchanges, 1);\n" + kSync +
                       "expect_at_exchange(exchanges, 0, " + bytes +
                       ");\n"
                       "if (t < 2) put_at_exchange(slots, cluster_rank(), t, t, exchanges, 0);\n"
                       "wait_for_exchange(exchanges, 0, " +
                       parity + ");\nconst i32 x = get(slots, t % 2);",
                   32, 2);
}

TEST(SimtWrongKernels, AnExchangeThatExpectsOtherBytesThanArrive) {
  EXPECT_EQ(error_on_forty(exchange_of("8", "0"), 1), "");
  const KernelText kernel = exchange_of("12", "0");
  EXPECT_EQ(error_on_forty(kernel, 1), kTag +
                                           at(kernel, 0, 0, "wait_for_exchange(exchanges, 0, 0);") +
                                           " expects 12 bytes at exchange barrier 0, 8 arrived");
}

TEST(SimtWrongKernels, AnExchangeOfTheWrongParity) {
  const KernelText kernel = exchange_of("8", "1");
  EXPECT_EQ(error_on_forty(kernel, 1),
            kTag + at(kernel, 0, 0, "wait_for_exchange(exchanges, 0, 1);") +
                " waits for exchange barrier 0 with parity 1, where it has been used 0 times");
}

KernelText fetching(const std::string& wait) {
  return kernel_of(
      "SN_FETCHED(f32, 4, fetched, 2 * 32, 0);\n"
      "if (t < 10) fetch_pack<4, kOften>(fetched, t, in0, t * 4);\nend_of_fetch();\n"
      "if (t < 10) fetch_pack<4, kOften>(fetched, 32 + t, in0, t * 4);\nend_of_fetch();\n" +
      wait + "if (t < 10) get(fetched, 32 + t);");
}

TEST(SimtWrongKernels, TakesWhatMayNotHaveArrived) {
  EXPECT_EQ(error_on_forty(fetching("wait_for_fetched<0>();\n"), 1), "");
  for (const char* wait : {"", "wait_for_fetched<1>();\n"}) {
    const KernelText kernel = fetching(wait);
    EXPECT_EQ(error_on_forty(kernel, 1), kTag +
                                             at(kernel, 0, 0, "if (t < 10) get(fetched, 32 + t);") +
                                             " reads fetched[32], which was never written");
  }
}

TEST(SimtWrongKernels, TooMuchSharedMemory) {
  const KernelText kernel = kernel_of("SN_SHARED(f32, most, 12288);\nSN_SHARED(f32, more, 1);");
  const std::string error = error_on_forty(kernel);
  EXPECT_NE(error.find("declares more[1]: 49156 bytes of shared memory in 2 arrays, a block can "
                       "have 49152"),
            std::string::npos)
      << error;
}

// --- afterwards ---

TEST(SimtWrongKernels, TheDeviceGoesOn) {
  const KernelText wrong = kernel_of(
      "block_barrier();\nif (t == 3) load_one(in0, 40);\n"
      "block_barrier();",
      256, 4);
  const KernelText right = kernel_of("block_barrier();\nif (t < 40) store_one(out0, t, 3.f);", 64);
  for (int i = 0; i < 5; ++i) {
    EXPECT_NE(error_on_forty(wrong, 50).find("reads in0[40]"), std::string::npos);
    std::vector<float> in(40, 1);
    std::vector<float> out(40, 2);
    launch(right, {bound(in), bound(out)}, {}, 1);
    EXPECT_EQ(out, std::vector<float>(40, 3));
  }
}

TEST(SimtWrongKernels, ErrorsStayWithTheirLaunch) {
  const KernelText wrong = kernel_of(
      "block_barrier();\nif (t == 3) load_one(in0, 40);\n"
      "block_barrier();");
  const KernelText right = kernel_of("block_barrier();\nload_one(in0, t);");
  std::thread other([&] {
    for (int i = 0; i < 50; ++i) EXPECT_NE(error_on_forty(wrong, 20), "");
  });
  for (int i = 0; i < 50; ++i) EXPECT_EQ(error_on_forty(right, 20), "");
  other.join();
}

TEST(SimtWrongKernels, TheWrongNumberOfWords) {
  const KernelText kernel = kernel_of("");
  EXPECT_NE(error_of(kernel, {}, {}, 1).find("kernel sinter_test takes 3 words, is given 1"),
            std::string::npos);
}

}  // namespace
}  // namespace sinter::simt_test
