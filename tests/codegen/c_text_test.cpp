// Literals and expressions as C text.
#include "src/codegen/c_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

namespace sinter {
namespace {

std::string real(double value, DType dtype = DType::f32) {
  tile::Instr constant;
  constant.real = value;
  return literal(constant, dtype);
}

std::string integer(std::int64_t value, DType dtype = DType::i64) {
  tile::Instr constant;
  constant.integer = value;
  return literal(constant, dtype);
}

TEST(CTextTest, RealLiteralsAreReals) {
  EXPECT_EQ(real(2), "2.0f");
  EXPECT_EQ(real(0.5), "0.5f");
  EXPECT_EQ(real(1e30), "1e+30f");
  EXPECT_EQ(real(2, DType::f64), "2.0");
  EXPECT_EQ(real(-3), "(-3.0f)") << "a - (-3.0f), never a --3.0f";
}

TEST(CTextTest, RealLiteralsKeepEveryBit) {
  for (double value : {0.1, 1.0 / 3, 3.4028234663852886e38, 1.401298464324817e-45, 5e-324}) {
    EXPECT_EQ(std::strtod(real(value, DType::f64).c_str(), nullptr), value);
    const std::string text = real(value);
    EXPECT_EQ(std::strtof(text.c_str(), nullptr), static_cast<float>(value)) << text;
  }
}

TEST(CTextTest, SpecialRealsHaveNames) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(real(infinity), "__builtin_inff()");
  EXPECT_EQ(real(-infinity), "-__builtin_inff()");
  EXPECT_EQ(real(infinity, DType::f64), "__builtin_inf()");
  EXPECT_EQ(real(std::nan("")), "__builtin_nanf(\"\")");
  EXPECT_EQ(real(std::nan(""), DType::f64), "__builtin_nan(\"\")");
  EXPECT_EQ(real(-0.0), "(-0.0f)") << "the sign of zero stays";
}

TEST(CTextTest, IntegerLiteralsCarryTheirType) {
  EXPECT_EQ(integer(5), "i64(5)");
  EXPECT_EQ(integer(-5), "i64((-5))");
  EXPECT_EQ(integer(7, DType::i32), "i32(7)");
  EXPECT_EQ(integer(std::numeric_limits<std::int64_t>::min()), "i64((-9223372036854775807 - 1))")
      << "9223372036854775808 does not exist in C";
  EXPECT_EQ(integer(std::numeric_limits<std::int64_t>::max()), "i64(9223372036854775807)");
  EXPECT_EQ(integer(1, DType::boolean), "true");
  EXPECT_EQ(integer(0, DType::boolean), "false");
}

TEST(CTextTest, IdentitiesChangeNothing) {
  EXPECT_EQ(identity_text(ReduceKind::sum, DType::f32), "0.0f");
  EXPECT_EQ(identity_text(ReduceKind::prod, DType::i64), "i64(1)");
  EXPECT_EQ(identity_text(ReduceKind::max, DType::f32), "-__builtin_inff()");
  EXPECT_EQ(identity_text(ReduceKind::argmin, DType::f64), "__builtin_inf()");
  EXPECT_EQ(identity_text(ReduceKind::max, DType::i32), "i32((-2147483648))");
  EXPECT_EQ(identity_text(ReduceKind::min, DType::i64), "i64(9223372036854775807)");
  EXPECT_EQ(identity_text(ReduceKind::max, DType::boolean), "false");
  EXPECT_EQ(identity_text(ReduceKind::min, DType::boolean), "true");
}

TEST(CTextTest, ExpressionsTakeOperandsWordByWord) {
  const std::vector<std::string> two{"v1", "v2"};
  EXPECT_EQ(expression_text(Op::add, two), "v1 + v2");
  EXPECT_EQ(expression_text(Op::leaky_relu, two), "select(gt(v1, like(v1, 0)), v1, v1 * v2)");
  // An operand named like a placeholder is not replaced again.
  EXPECT_EQ(expression_text(Op::sub, std::vector<std::string>{"b", "a"}), "b - a");
  EXPECT_EQ(expression_text(Op::abs, std::vector<std::string>{"x"}), "abs(x)")
      << "the a of abs is no operand";
}

TEST(CTextTest, TypesInRegistersAndInMemory) {
  EXPECT_EQ(compute_type(DType::bf16), "f32");
  EXPECT_EQ(compute_type(DType::boolean), "bool");
  EXPECT_EQ(storage_type(DType::bf16), "bf16");
  EXPECT_EQ(storage_type(DType::boolean), "u8");
}

TEST(CTextTest, FlatIndicesLeaveOutDimensionsOfOne) {
  EXPECT_EQ(flat_index_text({{"r", 2}, {"k", 4}, {"v", 8}}), "(r * 4 + k) * 8 + v");
  EXPECT_EQ(flat_index_text({{"r", 2}, {"k", 1}, {"v", 8}}), "r * 8 + v");
  EXPECT_EQ(flat_index_text({{"r", 1}, {"k", 1}, {"v", 8}}), "v");
  EXPECT_EQ(flat_index_text({{"r", 2}, {"", 4}}), "r * 4");
  EXPECT_EQ(flat_index_text({{"r", 2}, {"", 4}, {"", 8}}), "(r * 4) * 8");
  EXPECT_EQ(flat_index_text({{"", 4}, {"k", 1}}), "0");
}

}  // namespace
}  // namespace sinter
