// Dispatches on the dtype.
#include "src/graph/evaluate.h"

#include "src/graph/scalar_math.h"

namespace sinter {
namespace {

template <typename T>
T scalar_to(const Scalar& s) {
  if constexpr (scalar::kIsReal<T>)
    return static_cast<T>(s.real);
  else if constexpr (std::is_same_v<T, bool>)
    return s.integer != 0;
  else
    return T(s.integer);
}

template <typename T>
Scalar scalar_from(T value) {
  if constexpr (scalar::kIsReal<T>)
    return Scalar::of(static_cast<double>(value));
  else if constexpr (std::is_same_v<T, bool>)
    return Scalar::of(static_cast<std::int64_t>(value));
  else
    return Scalar::of(static_cast<std::int64_t>(value.value));
}

template <typename T>
std::optional<Scalar> evaluate_as(Op op, const std::array<Scalar, 3>& v) {
  std::optional<Scalar> result;
  scalar::visit_pointwise<T>(op, [&]<typename F>(F f) {
    if constexpr (std::is_invocable_v<F, T, T, T>)
      result = scalar_from(f(scalar_to<T>(v[0]), scalar_to<T>(v[1]), scalar_to<T>(v[2])));
    else
      result = scalar_from(f(scalar_to<bool>(v[0]), scalar_to<T>(v[1]), scalar_to<T>(v[2])));
  });
  return result;
}

}  // namespace

std::optional<Scalar> evaluate(Op op, DType dtype, const std::array<Scalar, 3>& values) {
  switch (compute_dtype(dtype)) {
    case DType::f32:
      return evaluate_as<float>(op, values);
    case DType::f64:
      return evaluate_as<double>(op, values);
    case DType::i32:
      return evaluate_as<scalar::I32>(op, values);
    case DType::i64:
      return evaluate_as<scalar::I64>(op, values);
    default:
      return evaluate_as<bool>(op, values);
  }
}

}  // namespace sinter
