// Numbers beside 16-bit tensors: f32 precision in arithmetic, rounded in comparisons and when they
// become tensors; and results rounded like those of eager operations.
#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include <cmath>
#include <cstring>

#include "tests/support/values.h"

namespace sinter::testing {
namespace {

constexpr double kTenthInBf16 = 0.10009765625;
constexpr double kTenthInF16 = 0.0999755859375;

double only(const Tensor& x) { return values_of(x).at(0); }

TEST(Numbers, FilledTensorsAreRoundedFoldedOrNot) {
  const Tensor x = zeros({1}, DType::f64);
  const auto sum_of = [](DType dtype) {
    return compile([=](const Tensor& a) { return a + cast(full({}, 0.1, dtype), DType::f64); });
  };
  EXPECT_EQ(only(sum_of(DType::bf16)(x)), kTenthInBf16);
  EXPECT_EQ(only(sum_of(DType::f16)(x)), kTenthInF16);
  EXPECT_EQ(only(x + cast(full({}, 0.1, DType::bf16), DType::f64)), kTenthInBf16);
  EXPECT_EQ(only(cast(full({}, 0.1, DType::bf16), DType::f64)), kTenthInBf16);
}

TEST(Numbers, RangesAreRounded) {
  const Tensor x = zeros({3}, DType::f64);
  const auto add_range = compile(
      [](const Tensor& a) { return a + cast(arange(256, 259, 1, DType::bf16), DType::f64); });
  EXPECT_TRUE(matches(add_range(x), {256, 256, 258}));
  EXPECT_TRUE(matches(cast(arange(256, 259, 1, DType::bf16), DType::f64), {256, 256, 258}));
}

TEST(Numbers, AreRoundedWhereTheyAreCompared) {
  const Tensor x = full({1}, 0.1, DType::f16);
  EXPECT_EQ(only(eq(x, 0.1)), 1) << "as an element that was made of the same number";
  EXPECT_EQ(only(lt(x, 0.1)), 0);
  EXPECT_EQ(only(compile([](const Tensor& a) { return eq(a, 0.1); })(x)), 1);
  EXPECT_EQ(only(compile([](const Tensor& a) { return ge(0.1, a); })(x)), 1);
}

TEST(Numbers, KeepTheirPrecisionInArithmetic) {
  // 1024 + 1024 / 3 in f32 is 1365.33; with 1 / 3 rounded to bf16 it would be 1366.
  const Tensor x = full({1}, 1024, DType::bf16);
  const auto wide = compile([](const Tensor& a) { return cast(a * (1.0 / 3) + a, DType::f32); });
  EXPECT_NEAR(only(wide(x)), 1024 + 1024.0 / 3, 1e-3);
  EXPECT_EQ(only(cast(minimum(x, 0.1), DType::f64)), kTenthInBf16) << "stored, so rounded";
  const auto fused = compile([](const Tensor& a) { return cast(minimum(a, 0.1), DType::f64); });
  EXPECT_EQ(only(fused(x)), static_cast<double>(0.1f)) << "not stored";
  const auto rounded =
      compile([](const Tensor& a) { return cast(cast(minimum(a, 0.1), DType::bf16), DType::f64); });
  EXPECT_EQ(only(rounded(x)), kTenthInBf16) << "an explicit cast rounds";
}

// --- emulate_eager_rounding ---------------------------------------------------------------------

bool same_bits(const Tensor& a, const Tensor& b) {
  std::vector<std::byte> left(static_cast<std::size_t>(a.numel()) * size_of(a.dtype()));
  std::vector<std::byte> right(left.size());
  a.copy_to(left.data());
  b.copy_to(right.data());
  return a.shape() == b.shape() && a.dtype() == b.dtype() && left == right;
}

Tensor chain(const Tensor& x, const Tensor& y) {
  const Tensor scaled = x * y + x * 0.3;
  return silu(scaled * scaled - y) / (1 + tanh(scaled)) + gelu(exp(-abs(y)), GeluForm::tanh);
}

class EagerRounding : public ::testing::TestWithParam<DType> {};

TEST_P(EagerRounding, GivesTheBitsOfOperationsThatRunAlone) {
  const Tensor x = random_tensor(GetParam(), {37, 53}, 1);
  const Tensor y = random_tensor(GetParam(), {37, 53}, 2);
  const auto rounded = compile(chain, {.emulate_eager_rounding = true});
  EXPECT_EQ(rounded.info(std::vector<Tensor>{x, y}).kernels, 1);
  EXPECT_TRUE(same_bits(rounded(x, y), chain(x, y)));
  // If the programs agreed anyway, the test could not fail.
  EXPECT_FALSE(same_bits(compile(chain)(x, y), chain(x, y)));
}

TEST_P(EagerRounding, OfRowsAndSingleElements) {
  const Tensor x = random_tensor(GetParam(), {37, 53}, 1);
  const auto spread = [](const Tensor& a, const Tensor& column, const Tensor& one) {
    return a * exp(column) + log(abs(one) + 1) * sin(a);
  };
  const Tensor column = random_tensor(GetParam(), {37, 1}, 2);
  const Tensor one = random_tensor(GetParam(), {}, 3);
  const auto rounded = compile(spread, {.emulate_eager_rounding = true});
  EXPECT_TRUE(same_bits(rounded(x, column, one), spread(x, column, one)));
}

INSTANTIATE_TEST_SUITE_P(DTypes, EagerRounding,
                         ::testing::Values(DType::f32, DType::f16, DType::bf16, DType::f64),
                         [](const auto& each) { return std::string(name_of(each.param)); });

TEST(EagerRoundingOfMixedTypes, GivesTheBitsOfOperationsThatRunAlone) {
  const Tensor x = random_tensor(DType::f32, {1000}, 1);
  const Tensor y = random_tensor(DType::f64, {1000}, 2);
  const auto mixed = [](const Tensor& a, const Tensor& b) {
    return sin(cast(exp(a) * a + a, DType::f64) * b) + cast(cast(tanh(a), DType::f16), DType::f64);
  };
  const auto rounded = compile(mixed, {.emulate_eager_rounding = true});
  EXPECT_TRUE(same_bits(rounded(x, y), mixed(x, y)));
}

}  // namespace
}  // namespace sinter::testing
