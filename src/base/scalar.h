// Scalar: a number with its kind, so that integers stay exact.
#pragma once

#include <sinter/dtype.h>

#include <cstdint>
#include <string>
#include <tuple>

#include "src/base/fields.h"

namespace sinter {

struct Scalar {
  double real = 0;
  std::int64_t integer = 0;
  bool is_real = true;

  static Scalar of(double value) { return {value, static_cast<std::int64_t>(0), true}; }
  static Scalar of(std::int64_t value) { return {static_cast<double>(value), value, false}; }
  // The value converted to `dtype`.
  Scalar as(DType dtype) const;
  friend bool operator==(const Scalar&, const Scalar&) = default;
};

constexpr auto fields_of(const Scalar*) {
  return std::tuple{key_field("real", &Scalar::real), key_field("integer", &Scalar::integer),
                    key_field("is_real", &Scalar::is_real)};
}
static_assert(kListsEveryField<Scalar>);

// Compares bits: a NaN equals itself, and -0 differs from 0.
bool same_bits(const Scalar& a, const Scalar& b);

std::string to_string(const Scalar& scalar);

}  // namespace sinter
