// Element types: the DType enumeration, the 16-bit float types, and C++ type <-> DType.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string_view>

namespace sinter {

enum class DType : std::uint8_t { f32, f16, bf16, f64, i32, i64, boolean };

inline constexpr int kDTypeCount = 7;

std::size_t size_of(DType dtype);
std::string_view name_of(DType dtype);
std::ostream& operator<<(std::ostream& out, DType dtype);  // its name

inline constexpr bool is_floating(DType dtype) { return dtype <= DType::f64; }
inline constexpr bool is_integer(DType dtype) { return dtype == DType::i32 || dtype == DType::i64; }

// The type a kernel computes in: 16-bit floats are widened to f32.
inline constexpr DType compute_dtype(DType dtype) {
  return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype;
}

// Result type of an operation on both: floats win over integers, wider over narrower; f16 with bf16
// gives f32.
DType promote(DType a, DType b);

float f16_to_f32(std::uint16_t bits);
float bf16_to_f32(std::uint16_t bits);
std::uint16_t f32_to_f16(float value);   // rounds to nearest even; overflow gives infinity
std::uint16_t f32_to_bf16(float value);  // rounds to nearest even

struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  explicit Half(float value) : bits(f32_to_f16(value)) {}
  explicit operator float() const { return f16_to_f32(bits); }
};

struct BFloat16 {
  std::uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value) : bits(f32_to_bf16(value)) {}
  explicit operator float() const { return bf16_to_f32(bits); }
};

// dtype_of<float>() is DType::f32; other types than element types do not compile.
template <typename T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::f32;
};
template <>
struct DTypeOf<Half> {
  static constexpr DType value = DType::f16;
};
template <>
struct DTypeOf<BFloat16> {
  static constexpr DType value = DType::bf16;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::f64;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::i32;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::i64;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::boolean;
};

template <typename T>
constexpr DType dtype_of() {
  return DTypeOf<T>::value;
}

}  // namespace sinter
