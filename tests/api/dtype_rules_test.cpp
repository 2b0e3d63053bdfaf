// Results for integers and bools match PyTorch: integers stay integers, powers of integers are
// integers, sums of bools are bools. On the CPU and on the simt device, whose kernels use another
// vocabulary.
#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include <cmath>
#include <limits>

#include "tests/support/errors.h"
#include "tests/support/gpu.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

class DtypeRules : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { SINTER_NEEDS_DEVICE(GetParam()); }

  Tensor here(const Tensor& x) const { return x.to(GetParam()); }
  static ::testing::AssertionResult gives(const Tensor& got, DType dtype,
                                          const std::vector<Real>& want) {
    return matches(got.to("cpu"), {static_cast<std::int64_t>(want.size())}, dtype, want);
  }
};

TEST_P(DtypeRules, RoundingKeepsIntegers) {
  const Tensor x = here(from_vector<std::int64_t>({kMost, kLeast, -3}, {3}));
  const Tensor y = here(tensor_of(DType::i32, {2}, {16777217, -7}));
  const Tensor bools = here(tensor_of(DType::boolean, {2}, {1, 0}));
  for (Tensor (*round_some)(const Arg&) : {floor, ceil, round, trunc}) {
    EXPECT_TRUE(gives(round_some(x), DType::i64,
                      {static_cast<Real>(kMost), static_cast<Real>(kLeast), -3}));
    EXPECT_TRUE(gives(round_some(y), DType::i32, {16777217, -7}));
    EXPECT_TRUE(gives(round_some(bools), DType::boolean, {1, 0}));
    EXPECT_TRUE(gives(compile([&](const Tensor& a) { return round_some(a) + 1; })(y), DType::i32,
                      {16777218, -6}));
  }
}

TEST_P(DtypeRules, PowersOfIntegersAreExactAndWrap) {
  const Tensor a = here(from_vector<std::int64_t>({3, -3, 2, 2, 0, 0, 7, -1, -1, 1, 5, 10}, {12}));
  const Tensor b =
      here(from_vector<std::int64_t>({39, 39, 62, 64, 0, 5, 1, -3, -4, -9, -1, 18}, {12}));
  EXPECT_TRUE(gives(
      pow(a, b), DType::i64,
      {4052555153018976267.0L, -4052555153018976267.0L, 0x1p62L, 0, 1, 0, 7, -1, 1, 1, 0, 1e18L}));
  const Tensor c = here(tensor_of(DType::i32, {4}, {2, -2, 46341, 3}));
  EXPECT_TRUE(gives(pow(c, 2), DType::i32, {4, 4, -2147479015, 9}));
  EXPECT_TRUE(gives(pow(2, c), DType::i32, {4, 0, 0, 8}));
  EXPECT_TRUE(gives(pow(c, true), DType::i32, {2, -2, 46341, 3}));
  EXPECT_TRUE(matches(pow(c, 0.5).to("cpu"), {4}, DType::f32,
                      {std::sqrt(2.0L), std::numeric_limits<Real>::quiet_NaN(), std::sqrt(46341.0L),
                       std::sqrt(3.0L)},
                      {4}));
  const Tensor bools = here(tensor_of(DType::boolean, {2}, {1, 0}));
  EXPECT_TRUE(gives(pow(bools, bools), DType::i64, {1, 1}));
}

TEST_P(DtypeRules, SumsAndProductsOfBoolsAreBools) {
  const Tensor a = here(tensor_of(DType::boolean, {4}, {0, 0, 1, 1}));
  const Tensor b = here(tensor_of(DType::boolean, {4}, {0, 1, 0, 1}));
  EXPECT_TRUE(gives(a + b, DType::boolean, {0, 1, 1, 1}));
  EXPECT_TRUE(gives(a * b, DType::boolean, {0, 0, 0, 1}));
  EXPECT_TRUE(gives(a + true, DType::boolean, {1, 1, 1, 1}));
  EXPECT_TRUE(gives(a + 1, DType::i64, {1, 1, 2, 2}));
  EXPECT_TRUE(gives(a * 2.5, DType::f32, {0, 0, 2.5L, 2.5L}));
  EXPECT_TRUE(gives(compile([](const Tensor& x, const Tensor& y) { return x + y * x; })(a, b),
                    DType::boolean, {0, 0, 1, 1}));
  EXPECT_TRUE(gives(maximum(a, b), DType::boolean, {0, 1, 1, 1}));
  EXPECT_TRUE(gives(sign(a), DType::boolean, {0, 0, 1, 1}));
  EXPECT_TRUE(gives(abs(a), DType::boolean, {0, 0, 1, 1}));
  EXPECT_TRUE(gives(square(a), DType::i64, {0, 0, 1, 1})) << "a power of 2, as PyTorch's";
  EXPECT_TRUE(gives(floor_div(a, b), DType::i64, {0, 0, 0, 1}));
}

INSTANTIATE_TEST_SUITE_P(Devices, DtypeRules, ::testing::Values("cpu", "simt"),
                         [](const auto& each) {
                           return std::string(each.param) == "cpu" ? "Cpu" : "Simt";
                         });

TEST(DtypeErrors, OfBools) {
  const Tensor a = tensor_of(DType::boolean, {2}, {1, 0});
  const std::string subtracted = "[sub] bools cannot be subtracted; use logical_xor, or cast them";
  EXPECT_USER_ERROR(a - a, subtracted);
  EXPECT_USER_ERROR(a - true, subtracted);
  EXPECT_USER_ERROR(-a, "[neg] bools cannot be negated; use logical_not (!a), or cast them");
  EXPECT_TRUE(matches(a - 1, {2}, DType::i64, {0, -1})) << "a number makes them numbers";
}

}  // namespace
}  // namespace sinter::testing
