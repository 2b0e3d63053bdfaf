// The op table as data, dtype rules, and one-element evaluation.
#include "src/graph/op.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "src/graph/reduction.h"
#include "src/graph/scalar_math.h"

namespace sinter {
namespace {

using scalar::I32;
using scalar::I64;

constexpr DType f32 = DType::f32, f16 = DType::f16, f64 = DType::f64, i32 = DType::i32,
                i64 = DType::i64, boolean = DType::boolean;

struct TypeRow {
  Op op;
  std::vector<DType> operands;
  DType computed;  // the dtype the last operand is cast to
  DType result;
};

TEST(OpTest, DTypeRules) {
  const TypeRow rows[] = {
      {Op::maximum, {i32, i64}, i64, i64},  // Same
      {Op::maximum, {boolean, boolean}, boolean, boolean},
      {Op::copy, {f16}, f16, f16},
      {Op::remainder, {boolean, boolean}, i64, i64},  // Number
      {Op::pow, {i32, i64}, i64, i64},
      {Op::add, {boolean, boolean}, boolean, boolean},  // Ring
      {Op::add, {f16, i64}, f16, f16},
      {Op::sub, {boolean, i32}, i32, i32},  // Signed
      {Op::floor, {i32}, i32, i32},         // Whole
      {Op::floor, {f16}, f16, f16},
      {Op::div, {i32, i32}, f32, f32},  // Floating
      {Op::div, {f64, i32}, f64, f64},
      {Op::exp, {boolean}, f32, f32},
      {Op::lt, {i32, f64}, f64, boolean},  // Compare
      {Op::eq, {boolean, boolean}, boolean, boolean},
      {Op::logical_and, {f32, i32}, boolean, boolean},  // Logical
      {Op::isnan, {i32}, f32, boolean},                 // Test
      {Op::isnan, {f64}, f64, boolean},
      {Op::where, {f32, i32, i64}, i64, i64},  // Select
  };
  for (const TypeRow& row : rows) {
    const OpTypes types = op_types(row.op, row.operands);
    EXPECT_EQ(types.result, row.result) << name_of(row.op);
    EXPECT_EQ(types.operands[row.operands.size() - 1], row.computed) << name_of(row.op);
  }
  const std::vector<DType> select{f32, i32, i64};
  EXPECT_EQ(op_types(Op::where, select).operands[0], boolean) << "a condition is a bool";
}

TEST(OpTest, SomeOpsAreOthersOnBoolsAndIntegers) {
  EXPECT_EQ(op_on(Op::add, boolean), Op::logical_or);
  EXPECT_EQ(op_on(Op::mul, boolean), Op::logical_and);
  EXPECT_EQ(op_on(Op::sign, boolean), Op::copy);
  EXPECT_EQ(op_on(Op::abs, boolean), Op::copy);
  EXPECT_EQ(op_on(Op::add, i32), Op::add);
  for (Op op : {Op::floor, Op::ceil, Op::round, Op::trunc}) {
    EXPECT_EQ(op_on(op, i64), Op::copy);
    EXPECT_EQ(op_on(op, boolean), Op::copy);
    EXPECT_EQ(op_on(op, f16), op);
  }
  EXPECT_EQ(op_on(Op::exp, f32), Op::exp);
}

TEST(OpTest, TheTableSaysWhatEachOpIs) {
  EXPECT_EQ(name_of(Op::gelu_tanh), "gelu_tanh");
  EXPECT_EQ(info(Op::add).expression, "a + b");
  EXPECT_EQ(info(Op::where).arity, 3);
  EXPECT_GE(info(Op::exp).cost, kHeavyCost);
  EXPECT_LT(info(Op::add).cost, kHeavyCost);
  EXPECT_TRUE(is_pointwise(Op::copy));
  EXPECT_TRUE(is_pointwise(Op::where));
  EXPECT_TRUE(is_pointwise(Op::cast));
  for (Op op : {Op::input, Op::constant, Op::iota, Op::reduce, Op::concat})
    EXPECT_FALSE(is_pointwise(op)) << name_of(op);
  EXPECT_TRUE(is_arg(ReduceKind::argmin));
  EXPECT_FALSE(is_arg(ReduceKind::min));
}

TEST(ScalarMathTest, IntegersWrap) {
  EXPECT_EQ((I32(std::numeric_limits<std::int32_t>::max()) + I32(1)).value,
            std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ((-I64(std::numeric_limits<std::int64_t>::min())).value,
            std::numeric_limits<std::int64_t>::min());
}

TEST(ScalarMathTest, DivisionRoundsDownAndRemainderHasTheDivisorsSign) {
  for (int a = -7; a <= 7; ++a)
    for (int b = -3; b <= 3; ++b) {
      if (b == 0) {
        EXPECT_EQ(scalar::floor_div(I32(a), I32(b)).value, 0);
        EXPECT_EQ(scalar::remainder(I32(a), I32(b)).value, 0);
        continue;
      }
      const int quotient = static_cast<int>(std::floor(static_cast<double>(a) / b));
      EXPECT_EQ(scalar::floor_div(I32(a), I32(b)).value, quotient) << a << " " << b;
      EXPECT_EQ(scalar::remainder(I32(a), I32(b)).value, a - quotient * b) << a << " " << b;
      EXPECT_EQ(scalar::remainder(double(a), double(b)), a - quotient * b) << a << " " << b;
    }
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(scalar::floor_div(I64(kLeast), I64(-1)).value, kLeast) << "wraps, does not trap";
}

TEST(ScalarMathTest, PowersOfIntegersWrap) {
  for (int a = -4; a <= 4; ++a) {
    I32 product(1);
    for (int b = 0; b <= 40; ++b, product = product * I32(a))
      EXPECT_EQ(scalar::pow(I32(a), I32(b)).value, product.value) << a << " " << b;
  }
  EXPECT_EQ(scalar::pow(I64(1), I64(-5)).value, 1);
  EXPECT_EQ(scalar::pow(I64(-1), I64(-5)).value, -1);
  EXPECT_EQ(scalar::pow(I64(-1), I64(-4)).value, 1);
  EXPECT_EQ(scalar::pow(I64(2), I64(-1)).value, 0);
  EXPECT_EQ(scalar::pow(I64(0), I64(-1)).value, 0) << "does not trap";
}

TEST(ScalarMathTest, NanWinsInMaximumAndMinimum) {
  const double nan = std::nan("");
  EXPECT_TRUE(std::isnan(scalar::maximum(nan, 1.0)));
  EXPECT_TRUE(std::isnan(scalar::maximum(1.0, nan)));
  EXPECT_TRUE(std::isnan(scalar::minimum(nan, 1.0)));
  EXPECT_TRUE(std::isnan(scalar::minimum(1.0, nan)));
}

TEST(ScalarMathTest, EveryPointwiseOpExistsForSomeType) {
  for (int i = static_cast<int>(Op::iota) + 1; i < static_cast<int>(Op::cast); ++i) {
    const Op op = static_cast<Op>(i);
    auto ignore = [](auto) {};
    EXPECT_TRUE(scalar::visit_pointwise<double>(op, ignore) ||
                scalar::visit_pointwise<bool>(op, ignore))
        << name_of(op);
  }
  auto ignore = [](auto) {};
  EXPECT_FALSE(scalar::visit_pointwise<I32>(Op::exp, ignore));
  EXPECT_FALSE(scalar::visit_pointwise<double>(Op::cast, ignore));
}

}  // namespace
}  // namespace sinter
