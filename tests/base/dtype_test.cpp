// Element types: sizes, promotion, and the 16-bit floats, every bit pattern of them.
#include <gtest/gtest.h>
#include <sinter/dtype.h>

#include <bit>
#include <cmath>
#include <limits>

namespace sinter {
namespace {

constexpr DType kAll[] = {DType::f32, DType::f16, DType::bf16,   DType::f64,
                          DType::i32, DType::i64, DType::boolean};

TEST(DTypeTest, SizesAndNames) {
  EXPECT_EQ(size_of(DType::f32), 4u);
  EXPECT_EQ(size_of(DType::f16), 2u);
  EXPECT_EQ(size_of(DType::bf16), 2u);
  EXPECT_EQ(size_of(DType::f64), 8u);
  EXPECT_EQ(size_of(DType::i32), 4u);
  EXPECT_EQ(size_of(DType::i64), 8u);
  EXPECT_EQ(size_of(DType::boolean), 1u);
  EXPECT_EQ(name_of(DType::bf16), "bf16");
  EXPECT_EQ(name_of(DType::boolean), "bool");
  EXPECT_EQ(std::size(kAll), static_cast<std::size_t>(kDTypeCount));
}

TEST(DTypeTest, SixteenBitFloatsComputeInF32) {
  for (DType dtype : kAll)
    EXPECT_EQ(compute_dtype(dtype),
              dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype);
}

TEST(DTypeTest, PromotionTable) {
  constexpr DType f32 = DType::f32, f16 = DType::f16, bf16 = DType::bf16, f64 = DType::f64,
                  i32 = DType::i32, i64 = DType::i64, b = DType::boolean;
  // Rows and columns in the order of kAll.
  constexpr DType kTable[7][7] = {
      {f32, f32, f32, f64, f32, f32, f32},      // f32
      {f32, f16, f32, f64, f16, f16, f16},      // f16
      {f32, f32, bf16, f64, bf16, bf16, bf16},  // bf16
      {f64, f64, f64, f64, f64, f64, f64},      // f64
      {f32, f16, bf16, f64, i32, i64, i32},     // i32
      {f32, f16, bf16, f64, i64, i64, i64},     // i64
      {f32, f16, bf16, f64, i32, i64, b},       // bool
  };
  for (int i = 0; i < 7; ++i)
    for (int j = 0; j < 7; ++j)
      EXPECT_EQ(promote(kAll[i], kAll[j]), kTable[i][j])
          << name_of(kAll[i]) << " with " << name_of(kAll[j]);
}

TEST(DTypeTest, EveryF16SurvivesARoundTrip) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float wide = f16_to_f32(half);
    const bool is_nan = (bits & 0x7c00u) == 0x7c00u && (bits & 0x3ffu) != 0;
    ASSERT_EQ(std::isnan(wide), is_nan) << bits;
    if (is_nan) {
      const std::uint16_t back = f32_to_f16(wide);
      ASSERT_TRUE((back & 0x7c00u) == 0x7c00u && (back & 0x3ffu) != 0) << bits;
    } else {
      ASSERT_EQ(f32_to_f16(wide), half) << bits;
    }
  }
}

TEST(DTypeTest, EveryF16HasItsIeeeValue) {
  for (unsigned bits = 0; bits < 0x8000; ++bits) {
    const int exponent = static_cast<int>(bits >> 10);
    const double mantissa = bits & 0x3ffu;
    if (exponent == 31) continue;
    const double value =
        exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
    ASSERT_EQ(static_cast<double>(f16_to_f32(static_cast<std::uint16_t>(bits))), value) << bits;
    ASSERT_EQ(static_cast<double>(f16_to_f32(static_cast<std::uint16_t>(bits | 0x8000u))), -value);
  }
  EXPECT_TRUE(std::signbit(f16_to_f32(0x8000))) << "minus zero";
  EXPECT_EQ(f16_to_f32(0x7c00), std::numeric_limits<float>::infinity());
  EXPECT_EQ(f16_to_f32(0xfc00), -std::numeric_limits<float>::infinity());
}

TEST(DTypeTest, F16RoundsToNearestEven) {
  // Between every two neighbours: the midpoint rounds to even, either side to the nearer one.
  for (unsigned bits = 0; bits < 0x7bff; ++bits) {
    const auto low = static_cast<std::uint16_t>(bits);
    const auto high = static_cast<std::uint16_t>(bits + 1);
    const float middle = (f16_to_f32(low) + f16_to_f32(high)) / 2;  // exact in f32
    ASSERT_EQ(f32_to_f16(middle), bits % 2 == 0 ? low : high) << bits;
    ASSERT_EQ(f32_to_f16(std::nextafter(middle, 0.0f)), low) << bits;
    ASSERT_EQ(f32_to_f16(std::nextafter(middle, 1e9f)), high) << bits;
    ASSERT_EQ(f32_to_f16(-middle), (bits % 2 == 0 ? low : high) | 0x8000) << bits;
  }
}

TEST(DTypeTest, F16OverflowsToInfinity) {
  EXPECT_EQ(f32_to_f16(65504.0f), 0x7bff);
  EXPECT_EQ(f32_to_f16(65519.996f), 0x7bff);
  EXPECT_EQ(f32_to_f16(65520.0f), 0x7c00);
  EXPECT_EQ(f32_to_f16(-1e30f), 0xfc00);
  EXPECT_EQ(f32_to_f16(std::numeric_limits<float>::infinity()), 0x7c00);
  EXPECT_EQ(f32_to_f16(1e-30f), 0) << "underflows to zero";
}

TEST(DTypeTest, EveryBf16SurvivesARoundTrip) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto brain = static_cast<std::uint16_t>(bits);
    const float wide = bf16_to_f32(brain);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(wide), bits << 16);
    if (std::isnan(wide))
      ASSERT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(wide)))) << bits;
    else
      ASSERT_EQ(f32_to_bf16(wide), brain) << bits;
  }
}

TEST(DTypeTest, Bf16RoundsToNearestEven) {
  for (unsigned bits = 0; bits < 0x7f7f; ++bits) {
    const auto low = static_cast<std::uint16_t>(bits);
    const auto high = static_cast<std::uint16_t>(bits + 1);
    const std::uint32_t middle = (bits << 16) | 0x8000u;
    ASSERT_EQ(f32_to_bf16(std::bit_cast<float>(middle)), bits % 2 == 0 ? low : high) << bits;
    ASSERT_EQ(f32_to_bf16(std::bit_cast<float>(middle - 1)), low) << bits;
    ASSERT_EQ(f32_to_bf16(std::bit_cast<float>(middle + 1)), high) << bits;
  }
  EXPECT_EQ(f32_to_bf16(std::numeric_limits<float>::max()), 0x7f80) << "rounds up to infinity";
}

TEST(DTypeTest, ANanWhosePayloadWouldBeCutStaysANan) {
  EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(std::bit_cast<float>(0x7f800001u)))));
  EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16(std::bit_cast<float>(0xff800001u)))));
}

}  // namespace
}  // namespace sinter
