// Numbers combined with tensors: a number that fits keeps its value, one that does not is an error,
// never a wrong value. The same for full() and arange().
#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include <cmath>
#include <limits>

#include "tests/support/errors.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

constexpr std::int64_t kBig = 5000000000;  // beyond i32
constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Numbers, ThatDoNotFitAnIntegerAreErrors) {
  const Tensor x = tensor_of(DType::i32, {2}, {1, 2});
  const std::string text =
      "5000000000 does not fit i32, the type of the tensor; cast the tensor to i64";
  EXPECT_USER_ERROR(x < kBig, "[lt] " + text);
  EXPECT_USER_ERROR(x + kBig, "[add] " + text);
  EXPECT_USER_ERROR(kBig - x, "[sub] " + text);
  EXPECT_USER_ERROR(where(x, x, kBig), "[where] " + text);
  EXPECT_USER_ERROR(clamp(x, 0, kBig), "[clamp] " + text);
  EXPECT_USER_ERROR(
      compile([](const Tensor& a) { return a * kBig; })(x),
      "[mul] " + text + "; while tracing an unnamed function of 1 tensor with input i32(2)");
  EXPECT_USER_ERROR(
      x + std::int64_t{-2147483649},
      "[add] -2147483649 does not fit i32, the type of the tensor; cast the tensor to i64");
  EXPECT_TRUE(matches(x + std::int64_t{2147483645}, {2147483646, 2147483647}));
  EXPECT_TRUE(matches(cast(x, DType::i64) + kBig, {5000000001, 5000000002}));
  EXPECT_TRUE(matches(cast(x, DType::i64) < kBig, {1, 1}));
  EXPECT_TRUE(matches(cast(x, DType::boolean) + kBig, {5000000001, 5000000001})) << "i64";
}

TEST(Numbers, BeyondI64KeepTheirValueWithFloats) {
  EXPECT_TRUE(matches(ones({1}) + kHuge, {0x1p64L}));
  EXPECT_TRUE(matches(zeros({1}, DType::f64) + kHuge, {0x1p64L}));
  EXPECT_TRUE(matches(ones({1}) < kHuge, {1}));
  EXPECT_TRUE(matches(full({1}, kHuge), {0x1p64L}));
  EXPECT_TRUE(matches(zeros({1}, DType::i64) + std::uint64_t{7}, {7}));
  for (DType dtype : {DType::i32, DType::i64}) {
    const std::string name(name_of(dtype));
    EXPECT_USER_ERROR(zeros({1}, dtype) + kHuge, "[add] 18446744073709551615 does not fit " + name +
                                                     "; cast the tensor to f64");
    EXPECT_USER_ERROR(full({1}, kHuge, dtype),
                      "[full] " + name + " cannot hold 18446744073709551615");
  }
}

TEST(Numbers, BeyondAFloatAreInfinite) {
  EXPECT_TRUE(matches(ones({1}) + 1e300, {std::numeric_limits<Real>::infinity()}));
  EXPECT_TRUE(matches(ones({1}) < 1e300, {1}));
  EXPECT_TRUE(matches(ones({1}, DType::f64) * 1e300, {1e300}));
}

TEST(Numbers, OfFullFitTheDtype) {
  for (double value : {0.5, -1.25, std::nan(""), kInf, -kInf, 2147483648.0, 1e30})
    EXPECT_THROW(full({1}, value, DType::i32), UserError) << value;
  EXPECT_USER_ERROR(full({2}, 2.7, DType::i32), "[full] i32 cannot hold 2.7");
  EXPECT_USER_ERROR(full({2}, kBig, DType::i32), "[full] i32 cannot hold 5000000000");
  EXPECT_USER_ERROR(full({2}, 0x1p63, DType::i64), "[full] i64 cannot hold 9.223372036854776e+18");
  EXPECT_TRUE(matches(full({1}, -2147483648.0, DType::i32), {-2147483648.0L}));
  EXPECT_TRUE(matches(full({1}, -0x1p63, DType::i64), {-0x1p63L}));
  EXPECT_TRUE(matches(full({1}, 0.5, DType::boolean), {1}));
}

TEST(Numbers, OfArangeFitTheDtype) {
  EXPECT_USER_ERROR(arange(kBig, kBig + 2, 1, DType::i32), "[arange] i32 cannot hold 5000000000");
  EXPECT_USER_ERROR(arange(0, kBig, std::int64_t{4000000000}, DType::i32),
                    "[arange] i32 cannot hold 4000000000");
  EXPECT_USER_ERROR(arange(0.5, 3, 1, DType::i64), "[arange] i64 cannot hold 0.5");
  EXPECT_USER_ERROR(arange(0, kInf), "[arange] inf cannot be a start, stop or step");
  EXPECT_TRUE(matches(arange(0.0, 3.0, 1.0, DType::i32), {3}, DType::i32, {0, 1, 2}));
  EXPECT_TRUE(matches(arange(0, kBig, kBig, DType::i32), {1}, DType::i32, {0}))
      << "stop is not one";
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  EXPECT_TRUE(matches(arange(kLeast, kMost, kMost), {3}, DType::i64, {-0x1p63L, -1, 0x1p63L - 2}));
}

TEST(Numbers, ThatIntegersCannotBeDividedByOrRaisedTo) {
  const Tensor x = tensor_of(DType::i32, {2}, {7, -7});
  const std::string zero = " integers cannot be divided by 0; cast the tensor to a float";
  EXPECT_USER_ERROR(x % 0, "[remainder]" + zero);
  EXPECT_USER_ERROR(floor_div(x, 0), "[floor_div]" + zero);
  EXPECT_USER_ERROR(floor_div(x, false), "[floor_div]" + zero);
  EXPECT_USER_ERROR(pow(x, -1),
                    "[pow] -1 is not an integer's exponent; cast the tensor to a float");
  EXPECT_TRUE(std::isnan((x % 0.0).to_vector<float>()[0])) << "a fraction makes it f32";
  EXPECT_TRUE(matches(floor_div(x, zeros({2}, DType::i32)), {0, 0})) << "kernels cannot throw";
  EXPECT_TRUE(matches(x % zeros({2}, DType::i32), {0, 0}));
  EXPECT_TRUE(matches(pow(x, tensor_of(DType::i32, {2}, {-1, 2})), {0, 49}));
}

}  // namespace
}  // namespace sinter::testing
