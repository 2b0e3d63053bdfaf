// pad(): values at the borders, padded views of views, and what kernels make of them. Each program
// runs on the CPU, on simt and on a GPU.
#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include <cmath>
#include <limits>

#include "tests/support/errors.h"
#include "tests/support/gpu.h"

namespace sinter {
namespace {

using Floats = std::vector<float>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

class Pad : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { SINTER_NEEDS_DEVICE(GetParam()); }

  // The compiled result of `f` on 1, 2, .. in that shape.
  template <typename F>
  Floats of_counted(const Shape& shape, F f, int kernels = 1) {
    Floats values;
    for (std::int64_t i = 1; i <= shape.numel(); ++i) values.push_back(static_cast<float>(i));
    const Tensor x = from_vector(values, shape).to(GetParam());
    const auto compiled = compile(f);
    const Tensor y = compiled(x);
    EXPECT_EQ(compiled.info({x}).kernels, kernels) << compiled.explain();
    // Eager operations give the same.
    const Floats result = y.to("cpu").template to_vector<float>();
    if (std::string(GetParam()) == "cpu") {
      EXPECT_EQ(f(x).template to_vector<float>(), result);
    }
    return result;
  }
};

TEST_P(Pad, PutsANumberAroundTheElements) {
  EXPECT_EQ(of_counted({3}, [](const Tensor& x) { return pad(x, 0, 2, 1); }),
            Floats({0, 0, 1, 2, 3, 0}));
  EXPECT_EQ(of_counted({2, 2}, [](const Tensor& x) { return pad(pad(x, 0, 1, 0, 7), 1, 0, 1, 7); }),
            Floats({7, 7, 7, 1, 2, 7, 3, 4, 7}));
  EXPECT_EQ(of_counted({2}, [](const Tensor& x) { return pad(x, -1, 1, 1, -kInfinity); }),
            Floats({-kInfinity, 1, 2, -kInfinity}));
}

TEST_P(Pad, NegativeCountsRemoveElements) {
  EXPECT_EQ(of_counted({5}, [](const Tensor& x) { return pad(x, 0, -1, 2) + 0.0; }),
            Floats({2, 3, 4, 5, 0, 0}));
  EXPECT_EQ(of_counted({5}, [](const Tensor& x) { return pad(x, 0, -2, -1) + 0.0; }),
            Floats({3, 4}));
}

TEST_P(Pad, FusesWithWhatReadsIt) {
  EXPECT_EQ(of_counted({3}, [](const Tensor& x) { return exp(pad(x, 0, 1, 1) * 0.0) + x[0]; }),
            Floats({2, 2, 2, 2, 2}));
  // The difference of neighbours: two shifted windows of one tensor.
  EXPECT_EQ(of_counted({5},
                       [](const Tensor& x) {
                         const Tensor wide = pad(x, 0, 1, 1);
                         return slice(wide, 0, 2, std::nullopt) - slice(wide, 0, 0, -2);
                       }),
            Floats({2, 2, 2, 2, -4}));
  EXPECT_EQ(of_counted({2, 3}, [](const Tensor& x) { return sum(pad(x, 1, 2, 2, 1), 1); }),
            Floats({10, 19}));
  EXPECT_EQ(of_counted({2, 3}, [](const Tensor& x) { return sum(pad(x, 0, 2, 2, 1), 0); }),
            Floats({9, 11, 13}));
  EXPECT_EQ(of_counted({2, 3}, [](const Tensor& x) { return max(pad(x, 1, 1, 0, 100), 1); }),
            Floats({100, 100}));
}

TEST_P(Pad, ViewsOfPaddedViews) {
  const auto padded = [](const Tensor& x) { return pad(x, 1, 1, 2, 9); };  // (2, 2) to (2, 5)
  EXPECT_EQ(of_counted({2, 2}, [=](const Tensor& x) { return transpose(padded(x), 0, 1) + 0.0; }),
            Floats({9, 9, 1, 3, 2, 4, 9, 9, 9, 9}));
  EXPECT_EQ(of_counted({2, 2}, [=](const Tensor& x) { return flip(padded(x), {1}) + 0.0; }),
            Floats({9, 9, 2, 1, 9, 9, 9, 4, 3, 9}));
  EXPECT_EQ(
      of_counted({2, 2}, [=](const Tensor& x) { return slice(padded(x), 1, 4, 0, -2) + 0.0; }),
      Floats({9, 2, 9, 4}));
  EXPECT_EQ(of_counted({2, 2},
                       [=](const Tensor& x) {
                         return reshape(padded(x), {2, 1, 5}) + 0.0;
                       }),
            Floats({9, 1, 2, 9, 9, 9, 3, 4, 9, 9}));
  EXPECT_EQ(of_counted({2, 2}, [=](const Tensor& x) { return flatten(padded(x)) + 0.0; }),
            Floats({9, 1, 2, 9, 9, 9, 3, 4, 9, 9}));
  EXPECT_EQ(of_counted({2, 2}, [=](const Tensor& x) { return pad(padded(x), 0, 0, 1, 5) + 0.0; }),
            Floats({9, 1, 2, 9, 9, 9, 3, 4, 9, 9, 5, 5, 5, 5, 5}));
}

TEST_P(Pad, PartsThatShowOnlyTheNumber) {
  EXPECT_EQ(of_counted({2}, [](const Tensor& x) { return pad(x, 0, 2, 0, 3)[0] + x; }),
            Floats({4, 5}));
  EXPECT_EQ(of_counted({2}, [](const Tensor& x) { return slice(pad(x, 0, 2, 0, 3), 0, 0, 2) + x; }),
            Floats({4, 5}));
  EXPECT_EQ(of_counted({2}, [](const Tensor& x) { return pad(slice(x, 0, 0, 0), 0, 1, 1, 3) + x; }),
            Floats({4, 5}));
}

TEST_P(Pad, NumbersAndRanges) {
  EXPECT_EQ(of_counted({4}, [](const Tensor& x) { return pad(full({2}, 5.0), 0, 1, 1) + x; }),
            Floats({1, 7, 8, 4}));
  EXPECT_EQ(
      of_counted({4},
                 [](const Tensor& x) { return pad(arange(0, 2, 1, DType::f32), 0, 1, 1, -1) + x; }),
      Floats({0, 2, 4, 3}));
}

TEST_P(Pad, OfWhatIsComputed) {
  EXPECT_EQ(of_counted({3}, [](const Tensor& x) { return pad(x * 2.0, 0, 1, 0) * 10.0; }),
            Floats({0, 20, 40, 60}));
}

TEST_P(Pad, LongRowsAndManyColumns) {
  for (const std::int64_t size : {1000, 4096, 70001}) {
    const Tensor x = ones({3, size}).to(GetParam());
    const auto f = compile([](const Tensor& t) {
      const Tensor wide = pad(pad(t, 1, 5, 3, 2), 0, 1, 1, 2);
      return std::pair{sum(wide, 1), softmax(wide, 1)};
    });
    const auto [sums, softmaxes] = f(x);
    const auto whole = static_cast<float>(size + 8);
    EXPECT_EQ(sums.to("cpu").to_vector<float>(),
              Floats({2 * whole, whole + 8, whole + 8, whole + 8, 2 * whole}));
    const Floats rows = softmaxes.to("cpu").to_vector<float>();
    EXPECT_NEAR(rows[0] * whole, 1, 1e-4);
    const auto row = static_cast<std::size_t>(size + 8);
    EXPECT_NEAR(rows[row] / rows[row + 5], std::exp(1.0), 1e-5);
    EXPECT_NEAR(rows[2 * row - 1] / rows[2 * row - 4], std::exp(1.0), 1e-5);
  }
}

TEST_P(Pad, SixteenBitsIntegersAndBools) {
  const auto f = compile([](const Tensor& x) { return pad(x, 0, 1, 1, 1); });
  const auto there = [&](const Tensor& x) { return f(x.to(GetParam())).to("cpu"); };
  EXPECT_EQ(cast(there(full({1}, 0.5, DType::bf16)), DType::f32).to_vector<float>(),
            Floats({1, 0.5, 1}));
  EXPECT_EQ(there(full({1}, 1LL << 40, DType::i64)).to_vector<std::int64_t>(),
            std::vector<std::int64_t>({1, 1LL << 40, 1}));
  EXPECT_EQ(cast(there(full({1}, false, DType::boolean)), DType::f32).to_vector<float>(),
            Floats({1, 0, 1}));
}

// The offset of the first index would overflow.
TEST(PadTest, AnAxisOfOneElementMayHaveAnyStride) {
  float value = 3;
  const Tensor x = from_memory(&value, {1}, {std::int64_t{1} << 60}, DType::f32, nullptr);
  const Floats want{0, 0, 0, 0, 0, 0, 0, 0, 0, 3};
  EXPECT_EQ(pad(x, 0, 9, 0).to_vector<float>(), want);
  EXPECT_EQ(compile([](const Tensor& t) { return pad(t, 0, 9, 0); })(x).to_vector<float>(), want);
}

INSTANTIATE_TEST_SUITE_P(Cpu, Pad, ::testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Simt, Pad, ::testing::Values("simt"));
INSTANTIATE_TEST_SUITE_P(Gpu, Pad, ::testing::Values("cuda"));

TEST(PadErrors, SayWhatIsWrong) {
  const Tensor x = ones({2, 3});
  EXPECT_USER_ERROR(pad(x, 2, 1, 1), "[pad] there is no axis 2 in a tensor of 2 dimensions");
  EXPECT_USER_ERROR(pad(x, 1, -4, 0),
                    "[pad] axis 1 of (2, 3) cannot get -4 elements before it and 0 after it");
  EXPECT_USER_ERROR(pad(x, 1, -2, -2),
                    "[pad] axis 1 of (2, 3) cannot get -2 elements before it and -2 after it");
  EXPECT_USER_ERROR(pad(x, 0, 1, 0, ones({1})), "[pad] the value is a number, not a tensor");
}

TEST(PadErrors, CountsMayBeTheLeastAndTheLargest) {
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  const Tensor x = ones({1});
  EXPECT_USER_ERROR(pad(x, 0, kLeast, kMost),
                    "[pad] axis 0 of (1) cannot get -9223372036854775808 elements before it and "
                    "9223372036854775807 after it");
  EXPECT_USER_ERROR(pad(x, 0, kMost, kLeast),
                    "[pad] axis 0 of (1) cannot get 9223372036854775807 elements before it and "
                    "-9223372036854775808 after it");
  EXPECT_USER_ERROR(pad(x, 0, kMost, kMost),
                    "[pad] axis 0 of (1) cannot get 9223372036854775807 elements before it and "
                    "9223372036854775807 after it");
}

}  // namespace
}  // namespace sinter
