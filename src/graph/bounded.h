// Bounded: an element in f64 with a bound on how far any correct executor may be from it. Executors
// may keep 16-bit values in f32 between operations, sum in any order and be 4 ulp off in functions
// (GPUs: 2 + |a| in exp(a)). In: operands with their bounds. Out: the result with its own.
#pragma once

#include <sinter/dtype.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "src/graph/reduction.h"

namespace sinter::bounded {

// `integer` holds i32, i64 and bool elements, `value` the floating ones.
struct Bounded {
  double value = 0;
  std::int64_t integer = 0;
  double error = 0;  // 0: exact; infinite: any result is valid (near a jump, or too inexact)

  bool known() const { return error < std::numeric_limits<double>::infinity(); }
  static Bounded real(double v, double e = 0) { return {v, 0, e}; }
  static Bounded whole(std::int64_t i) { return {0, i, 0}; }
  static Bounded unknown() { return {0, 0, std::numeric_limits<double>::infinity()}; }
};

// Half the distance from 1 to the next number, the largest finite and the least positive number.
struct Precision {
  double unit = 0;
  double most = 0;
  double least = 0;
};
Precision precision_of(DType dtype);

// GPU kernels (also on the simt device) have less accurate exponentials.
enum class Kernels : std::uint8_t { host, gpu };

// How well an operation is computed before its result is stored.
enum class Rounding : std::uint8_t {
  exact,    // selects or compares: no rounding
  once,     // one or two roundings of the exact result
  library,  // a math function: a few ulp
  composed  // several library functions: as if the operands were also a few ulp off
};
Rounding rounding_of(Op op);

// The value after an operation of that accuracy whose result has type `dtype`.
Bounded rounded(double value, double error, DType dtype, Rounding rounding);

// Operands already have type `dtype` (except the first one of where: bool).
Bounded pointwise(Op op, DType dtype, DType result, std::span<const Bounded> operands,
                  Kernels kernels = Kernels::host);
Bounded cast(const Bounded& element, DType from, DType to);
// Validity of a floating-point sum's bound.
enum class SumBound : std::uint8_t {
  always,   // worst case, any summation order: grows with the number of elements
  typical,  // independent rounding errors: grows with the square root of that number
};
// All elements of one reduction, in order, of type `dtype`; the result has type `result`.
Bounded reduce(ReduceKind kind, DType dtype, DType result, std::span<const Bounded> elements,
               SumBound bound = SumBound::always);

// Whether `got` (an element read back, as a double or an integer) is within the bound.
bool agrees(const Bounded& want, double got);
bool agrees(const Bounded& want, std::int64_t got);

}  // namespace sinter::bounded
