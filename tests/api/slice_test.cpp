// Slices with any bounds and steps, and flips, against plain loops: eager and compiled, alone and
// before, after and between other operations, on every available executor.
#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include <array>
#include <functional>
#include <limits>
#include <optional>
#include <random>

#include "src/api/program_cache.h"
#include "src/cpu/cpu_device.h"
#include "tests/support/gpu.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

using Bound = std::optional<std::int64_t>;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

// The indices of Python's range(*slice(start, stop, step).indices(length)), without overflow.
std::vector<std::int64_t> positions(std::int64_t length, Bound start, Bound stop,
                                    std::int64_t step) {
  __extension__ using Wide = __int128;
  const Wide low = step > 0 ? 0 : -1;
  const Wide high = step > 0 ? length : length - 1;
  const auto bound = [&](Bound at, Wide left_out) {
    if (!at) return left_out;
    const Wide i = *at < 0 ? Wide{*at} + length : Wide{*at};
    return i < low ? low : i > high ? high : i;
  };
  std::vector<std::int64_t> result;
  const Wide end = bound(stop, step > 0 ? high : low);
  for (Wide i = bound(start, step > 0 ? low : high); step > 0 ? i < end : i > end; i += step)
    result.push_back(static_cast<std::int64_t>(i));
  return result;
}

TEST(Slice, TakesWhatPythonTakes) {
  const Bound kBounds[] = {std::nullopt, 0, 1, 4, 5, 6, 100, -1, -4, -5, -6, -100, kMost, kLeast};
  const std::int64_t kSteps[] = {1, 2, 3, 5, 100, kMost, -1, -2, -3, -5, -100, -kMost, kLeast};
  for (std::int64_t length : {0, 1, 5}) {
    const Tensor x = counting_tensor({length});
    for (Bound start : kBounds)
      for (Bound stop : kBounds)
        for (std::int64_t step : kSteps) {
          const std::vector<std::int64_t> at = positions(length, start, stop, step);
          const Tensor got = slice(x, 0, start, stop, step);
          ASSERT_TRUE(matches(got, {static_cast<std::int64_t>(at.size())}, DType::f32,
                              {at.begin(), at.end()}))
              << length << ": " << start.value_or(-77) << " " << stop.value_or(-77) << " " << step;
        }
  }
  const Tensor x = counting_tensor({5});
  EXPECT_TRUE(matches(slice(x, 0, 0, 5, kMost), {1}, DType::f32, {0}));
  EXPECT_TRUE(
      matches(slice(x, 0, std::nullopt, std::nullopt, -1), {5}, DType::f32, {4, 3, 2, 1, 0}));
  EXPECT_TRUE(matches(slice(x, 0, -1, std::nullopt, kLeast), {1}, DType::f32, {4}));
  EXPECT_TRUE(matches(slice(x, 0, 3, 0, -2), {2}, DType::f32, {3, 1}));
  EXPECT_TRUE(matches(slice(x, 0, std::nullopt, 2), {2}, DType::f32, {0, 1}));
}

TEST(Slice, ForwardIsAViewAndBackwardACopy) {
  const Tensor x = counting_tensor({6});
  const auto* data = static_cast<const float*>(x.data());
  EXPECT_EQ(slice(x, 0, 1, 6, 2).data(), data + 1);
  EXPECT_EQ(slice(x, 0, 4, 3, -1).data(), data + 4) << "one element has no direction";
  const Tensor back = slice(x, 0, std::nullopt, std::nullopt, -2);
  EXPECT_EQ(back.strides(), Strides{1});
  EXPECT_TRUE(back.is_contiguous());
}

TEST(Flip, ReversesTheAxesNamed) {
  const Tensor x = counting_tensor({2, 3});
  EXPECT_TRUE(matches(flip(x, 0), {2, 3}, DType::f32, {3, 4, 5, 0, 1, 2}));
  EXPECT_TRUE(matches(flip(x, -1), {2, 3}, DType::f32, {2, 1, 0, 5, 4, 3}));
  EXPECT_TRUE(matches(flip(x), {2, 3}, DType::f32, {5, 4, 3, 2, 1, 0}));
  EXPECT_TRUE(matches(flip(transpose(x, 0, 1), 0), {3, 2}, DType::f32, {2, 5, 1, 4, 0, 3}));
  EXPECT_EQ(flip(zeros({0, 3})).shape(), (Shape{0, 3}));
  EXPECT_EQ(flip(full({}, 2)).item(), 2);
}

TEST(Flip, OfTensorsThatAreCapturedOrReturned) {
  const Tensor x = counting_tensor({4});
  const auto f = compile([&](const Tensor& a) {
    return std::tuple(flip(a), flip(x) + a, flip(flip(a)), flip(ones({4})), flip(arange(0, 4)));
  });
  const auto [back, sum, same, ones_back, counted] = f(x);
  EXPECT_TRUE(matches(back, {4}, DType::f32, {3, 2, 1, 0}));
  EXPECT_TRUE(matches(sum, {4}, DType::f32, {3, 3, 3, 3}));
  EXPECT_TRUE(matches(same, {4}, DType::f32, {0, 1, 2, 3}));
  EXPECT_TRUE(matches(ones_back, {4}, DType::f32, {1, 1, 1, 1}));
  EXPECT_TRUE(matches(counted, {4}, DType::i64, {3, 2, 1, 0}));
  for (const Tensor& result : {back, sum, same, ones_back, counted})
    for (std::int64_t stride : result.strides()) EXPECT_GE(stride, 0) << "memory is walked upwards";
}

// --- random programs of views -------------------------------------------------------------------

// A tensor as plain nested data.
struct Plain {
  Shape shape;
  std::vector<Real> elements;
};

// Elements of `plain` along an axis at the given indices.
Plain taken(const Plain& plain, int axis, const std::vector<std::int64_t>& at) {
  Plain result{plain.shape, {}};
  result.shape[axis] = static_cast<std::int64_t>(at.size());
  std::int64_t below = 1, above = 1;
  for (int i = 0; i < axis; ++i) above *= plain.shape[i];
  for (int i = axis + 1; i < plain.shape.rank(); ++i) below *= plain.shape[i];
  for (std::int64_t a = 0; a < above; ++a)
    for (std::int64_t i : at)
      for (std::int64_t b = 0; b < below; ++b)
        result.elements.push_back(
            plain.elements[static_cast<std::size_t>((a * plain.shape[axis] + i) * below + b)]);
  return result;
}

Plain transposed(const Plain& plain) {
  Plain result{plain.shape, {}};
  const std::int64_t rows = plain.shape[0], inner = plain.shape[1], cols = plain.shape[2];
  result.shape = {cols, inner, rows};
  for (std::int64_t c = 0; c < cols; ++c)
    for (std::int64_t i = 0; i < inner; ++i)
      for (std::int64_t r = 0; r < rows; ++r)
        result.elements.push_back(
            plain.elements[static_cast<std::size_t>((r * inner + i) * cols + c)]);
  return result;
}

struct Step {
  int axis = 0;
  Bound start, stop;
  std::int64_t step = 1;
  bool transpose = false;
};

std::vector<Step> random_steps(std::mt19937& random) {
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution(low, high)(random);
  };
  std::vector<Step> steps(static_cast<std::size_t>(pick(1, 4)));
  for (Step& step : steps) {
    step.axis = pick(0, 2);
    if (pick(0, 2) == 0) step.start = pick(-9, 9);
    if (pick(0, 2) == 0) step.stop = pick(-9, 9);
    step.step = pick(0, 3) == 0 ? pick(1, 3) : -pick(1, 3);
    step.transpose = pick(0, 2) == 0;
  }
  return steps;
}

Tensor viewed(Tensor x, const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    x = slice(x, step.axis, step.start, step.stop, step.step);
    if (step.transpose) x = transpose(x, 0, 2);
  }
  return x;
}

Plain viewed(Plain x, const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    x = taken(x, step.axis, positions(x.shape[step.axis], step.start, step.stop, step.step));
    if (step.transpose) x = transposed(x);
  }
  return x;
}

// Views of an input, of a result, of a view, summed and returned: (viewed x, viewed 2x + 1 summed
// along the last axis, and both in one expression).
std::vector<Tensor> program(std::span<const Tensor> inputs, const std::vector<Step>& steps) {
  const Tensor& x = inputs[0];
  const Tensor y = viewed(x * 2 + 1, steps);
  const Tensor z = viewed(x, steps);
  return {z, sum(y, 2), y - z, flip(reshape(z, {-1}))};
}

void expect_results(const std::vector<Tensor>& got, const Plain& x,
                    const std::vector<Step>& steps) {
  const Plain z = viewed(x, steps);
  std::vector<Real> sums, differences;
  const auto cols = static_cast<std::size_t>(z.shape[2]);
  for (std::int64_t row = 0; row < z.shape[0] * z.shape[1]; ++row) {
    sums.push_back(0);
    for (std::size_t i = 0; i < cols; ++i)
      sums.back() += 2 * z.elements[static_cast<std::size_t>(row) * cols + i] + 1;
  }
  for (Real each : z.elements) differences.push_back(each + 1);
  EXPECT_TRUE(matches(got[0].to("cpu"), z.shape, DType::f32, z.elements));
  EXPECT_TRUE(matches(got[1].to("cpu"), {z.shape[0], z.shape[1]}, DType::f32, sums));
  EXPECT_TRUE(matches(got[2].to("cpu"), z.shape, DType::f32, differences));
  EXPECT_TRUE(matches(got[3].to("cpu"), {z.shape.numel()}, DType::f32,
                      {z.elements.rbegin(), z.elements.rend()}));
}

// Runs the trace of `program` on a device of the test.
std::vector<Tensor> run_traced_on(const std::shared_ptr<Device>& device, const Tensor& x,
                                  const std::vector<Step>& steps, bool fuse) {
  const std::vector<Tensor> inputs{x};
  const auto trace = trace_function(
      [&](std::span<const Tensor> each) { return program(each, steps); }, inputs, device);
  return run_traced(*build_traced(*trace, inputs, {.fuse = fuse}), inputs);
}

void check_random_views(int count, const std::function<std::vector<Tensor>(
                                       const Tensor& x, const std::vector<Step>& steps)>& run) {
  std::mt19937 random(3);
  const Shape shapes[] = {{7, 3, 5}, {4, 4, 64}, {2, 33, 18}, {1, 8, 8}};
  for (int i = 0; i < count; ++i) {
    const Shape& shape = shapes[static_cast<std::size_t>(i) % std::size(shapes)];
    const std::vector<Step> steps = random_steps(random);
    const Tensor x = counting_tensor(shape);
    SCOPED_TRACE(i);
    expect_results(run(x, steps), {shape, values_of(x)}, steps);
  }
}

TEST(RandomSlices, AreRightAtOnce) {
  check_random_views(12, [](const Tensor& x, const std::vector<Step>& steps) {
    return program(std::array{x}, steps);
  });
}

TEST(RandomSlices, AreRightWhenInterpreted) {
  const std::shared_ptr<Device> device =
      make_cpu_device({.threads = 2, .cache_dir = "", .cxx = "none"});
  for (bool fuse : {true, false})
    check_random_views(200, [&](const Tensor& x, const std::vector<Step>& steps) {
      return run_traced_on(device, x, steps, fuse);
    });
}

TEST(RandomSlices, AreRightWhenCompiled) {
  check_random_views(60, [](const Tensor& x, const std::vector<Step>& steps) {
    return compile_list([&](std::span<const Tensor> each) { return program(each, steps); }, 1)
        .call(std::array{x});
  });
}

TEST(RandomSlices, AreRightOnSimt) {
  SINTER_NEEDS_DEVICE("simt");
  check_random_views(40, [](const Tensor& x, const std::vector<Step>& steps) {
    return compile_list([&](std::span<const Tensor> each) { return program(each, steps); }, 1)
        .call(std::array{x.to("simt")});
  });
}

TEST(EmptySlices, OfARangeAreEmpty) {
  const auto slices = compile([](const Tensor& x) {
    const Tensor column = unsqueeze(arange(4, 9, 1, DType::i32), 1);
    return std::vector{slice(column, 1, 0, 0, -3), slice(column, 1, 0, 0),
                       concat({slice(column, 1, 0, 0), column}, 1) + cast(x, DType::i32)};
  });
  const std::vector<Tensor> got = slices(zeros({1}));
  EXPECT_EQ(got[0].shape(), Shape({5, 0}));
  EXPECT_EQ(got[1].shape(), Shape({5, 0}));
  EXPECT_TRUE(matches(got[2], {5, 1}, DType::i32, {4, 5, 6, 7, 8}));
}

TEST(ReversedResults, ThatAnOperationPassesOnAreCopied) {
  const auto same =
      compile([](const Tensor& x) { return flip(x, {0}) * 1.0; }, {.emulate_eager_rounding = true});
  EXPECT_TRUE(matches(same(counting_tensor({3})), {2, 1, 0}));
}

}  // namespace
}  // namespace sinter::testing
