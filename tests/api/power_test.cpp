// Powers with constant exponents: which become products and roots, with pow's special cases and
// accuracy intact.
#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include <cmath>
#include <limits>
#include <string>

#include "tests/support/values.h"

namespace sinter::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

auto power(double exponent, CompileOptions options = {}) {
  return compile([=](const Tensor& x) { return pow(x, exponent); }, std::move(options));
}
bool calls_pow(const Tensor& x, double exponent) {
  const std::vector<Tensor> inputs{x};
  return power(exponent).dump("tile", inputs).find("= pow") != std::string::npos;
}

std::string kind_of(double x) {
  if (std::isnan(x)) return "nan";
  return (std::signbit(x) ? "-" : "+") + std::string(std::isinf(x) ? "inf" : x == 0 ? "0" : "x");
}

TEST(Powers, SpecialValuesAreThoseOfPow) {
  const std::vector<double> x = {0.0,     -0.0,  1.0,    -1.0,   kInf,   -kInf,   kNan,
                                 2.5,     -2.5,  1e308,  -1e308, 5e-324, -5e-324, 1e-200,
                                 -1e-200, 1e200, -1e200, 0.25,   -0.25};
  const Tensor values = from_vector(x, {static_cast<std::int64_t>(x.size())});
  for (double n :
       {0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, -1.0, -2.0, -3.0, -4.0, 0.5, -0.5}) {
    EXPECT_FALSE(calls_pow(values, n)) << n;
    const auto fused = power(n)(values).to_vector<double>();
    const auto alone = pow(values, n).to_vector<double>();
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double want = std::pow(x[i], n);
      EXPECT_EQ(kind_of(fused[i]), kind_of(want)) << x[i] << "^" << n;
      EXPECT_EQ(kind_of(alone[i]), kind_of(want)) << x[i] << "^" << n;
      const double ratio = std::isnormal(want) ? fused[i] / want : 1;
      EXPECT_NEAR(ratio, 1, 2e-15) << x[i] << "^" << n;
    }
  }
}

// |n| - 1 products round, and a reciprocal's rounding counts once for each of its factors.
TEST(Powers, ErrorsAreAFewRoundings) {
  const Tensor x = random_tensor(DType::f32, {4000}, 1, 0.5, 2);
  const auto values = x.to_vector<float>();
  for (int n : {2, 3, 4, 5, 6, 7, 8, -1, -2, -3, -4}) {
    const auto got = power(n)(x).to_vector<float>();
    const double roundings = n > 0 ? n - 1 : -2 * n - 1;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double want = std::pow(static_cast<double>(values[i]), n);
      ASSERT_LE(std::fabs(got[i] / want - 1) * 0x1p24, roundings * 1.001) << values[i] << "^" << n;
    }
  }
}

TEST(Powers, OtherExponentsAreLeftToPow) {
  const Tensor x = random_tensor(DType::f32, {5}, 1, 0.5, 2);
  for (double n : {1.5, 9.0, -5.0, 0.25, 2.001, kInf, kNan}) EXPECT_TRUE(calls_pow(x, n)) << n;
  const auto of_two = compile([](const Tensor& a, const Tensor& b) { return pow(a, b); });
  EXPECT_TRUE(matches(of_two(x, full({5}, 2)), values_of(x * x), Tolerance{4}));
}

TEST(Powers, AreOneOperation) {
  const Tensor x = random_tensor(DType::bf16, {50}, 1, 0.5, 2);
  const std::vector<Tensor> inputs{x};
  for (double n : {3.0, -3.0, 0.5}) {
    const auto unfused = power(n, {.fuse = false});
    EXPECT_EQ(unfused.info(inputs).kernels, 1) << n;
    EXPECT_EQ(unfused(x).dtype(), DType::bf16);
    EXPECT_EQ(values_of(unfused(x)), values_of(pow(x, n)))
        << "rounded once, after the last product";
  }
}

TEST(Powers, OfIntegersWrap) {
  const Tensor x = from_vector<std::int32_t>({-3, 0, 7, 100000}, {4});
  EXPECT_EQ(pow(x, 3).to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{-27, 0, 343, -1530494976}));
  EXPECT_FALSE(calls_pow(x, 3));
}

}  // namespace
}  // namespace sinter::testing
