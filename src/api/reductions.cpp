// Reductions, and the composite operations built from them.
#include <sinter/ops.h>

#include <algorithm>

#include "src/api/axes.h"
#include "src/api/op_call.h"
#include "src/api/origin.h"
#include "src/base/check.h"

namespace sinter {

std::uint32_t axes_mask(std::string_view op, const Tensor& a, const Axes& axes) {
  checked(op, a);
  if (axes.list().empty()) return (1u << a.rank()) - 1;
  std::uint32_t mask = 0;
  for (int axis : axes.list()) {
    const std::uint32_t bit = 1u << checked_axis(op, axis, a.rank());
    if (mask & bit) fail_user(op, "axis {} is named twice", axis);
    mask |= bit;
  }
  return mask;
}

namespace {

Tensor with_kept_axes(Tensor reduced, std::uint32_t mask, int rank) {
  for (int i = 0; i < rank; ++i)
    if (mask >> i & 1) reduced = unsqueeze(reduced, i);
  return reduced;
}

std::int64_t reduced_count(const Tensor& a, std::uint32_t mask) {
  std::int64_t count = 1;
  for (int i = 0; i < a.rank(); ++i)
    if (mask >> i & 1) count *= a.shape()[i];
  return count;
}

Tensor reduce(std::string_view op, ReduceKind kind, const Tensor& a, std::uint32_t mask,
              bool keepdim) {
  const bool has_identity = is_defined_for_nothing(kind) || op == "any" || op == "all";
  if (!has_identity && reduced_count(a, mask) == 0)
    fail_user(op, "cannot reduce {}: it has no elements along the axes", to_string(a.shape()));
  if (mask == 0) {  // of a scalar
    return is_arg(kind) ? zeros(a.shape(), DType::i64) : cast(a, reduce_dtype(kind, a.dtype()));
  }
  OpCall call;
  call.op = Op::reduce;
  call.args = {a};
  call.reduce_kind = kind;
  call.axes = mask;
  Tensor result = apply(call);
  return keepdim ? with_kept_axes(result, mask, a.rank()) : result;
}

Tensor reduce(std::string_view op, ReduceKind kind, const Tensor& a, const Axes& axes,
              bool keepdim) {
  return reduce(op, kind, a, axes_mask(op, a, axes), keepdim);
}

DType floating_dtype(const Tensor& a) { return is_floating(a.dtype()) ? a.dtype() : DType::f32; }

// The dtype composites compute in. 16-bit floats are widened: a count or a sum may exceed their
// range.
Tensor widened(const Tensor& a) { return cast(a, compute_dtype(floating_dtype(a))); }

Tensor arg_extreme(std::string_view op, ReduceKind kind, const Tensor& a, std::optional<int> axis,
                   bool keepdim) {
  checked(op, a);
  const Tensor x =
      a.dtype() == DType::boolean ? cast(a, DType::i32) : a;  // kernels compare numbers
  if (axis) return reduce(op, kind, x, Axes(*axis), keepdim);
  const Tensor position = reduce(op, kind, flatten(x), Axes(0), false);
  return keepdim ? reshape(position, Shape::filled(a.rank(), 1)) : position;
}

}  // namespace

// The functions of reductions.def.
#define SINTER_REDUCTION_Value(name)                             \
  Tensor name(const Tensor& a, const Axes& axes, bool keepdim) { \
    return reduce(#name, ReduceKind::name, a, axes, keepdim);    \
  }
#define SINTER_REDUCTION_Position(name)                                 \
  Tensor name(const Tensor& a, std::optional<int> axis, bool keepdim) { \
    return arg_extreme(#name, ReduceKind::name, a, axis, keepdim);      \
  }
#define SINTER_REDUCTION(name, identity, combine, dtype, finish) SINTER_REDUCTION_##finish(name)
#include <sinter/reductions.def>
#undef SINTER_REDUCTION
#undef SINTER_REDUCTION_Value
#undef SINTER_REDUCTION_Position

Tensor any(const Tensor& a, const Axes& axes, bool keepdim) {
  checked("any", a);
  const OperationName name("any");
  return reduce("any", ReduceKind::max, cast(a, DType::boolean), axes, keepdim);
}
Tensor all(const Tensor& a, const Axes& axes, bool keepdim) {
  checked("all", a);
  const OperationName name("all");
  return reduce("all", ReduceKind::min, cast(a, DType::boolean), axes, keepdim);
}

Tensor mean(const Tensor& a, const Axes& axes, bool keepdim) {
  const OperationName name("mean");
  const std::uint32_t mask = axes_mask("mean", a, axes);
  const Tensor total = reduce("mean", ReduceKind::sum, widened(a), mask, keepdim);
  return cast(total / static_cast<double>(reduced_count(a, mask)), floating_dtype(a));
}

namespace {

// In the widened dtype.
Tensor wide_var(const Tensor& a, const Axes& axes, bool keepdim, int correction) {
  const std::uint32_t mask = axes_mask("var", a, axes);
  const Tensor x = widened(a);
  const auto count = static_cast<double>(reduced_count(a, mask));
  const Tensor centred = x - reduce("var", ReduceKind::sum, x, mask, true) / count;
  const Tensor squares = reduce("var", ReduceKind::sum, square(centred), mask, keepdim);
  // As in PyTorch, zero degrees of freedom give NaN, not a negative variance.
  return squares / std::max(0.0, count - correction);
}

}  // namespace

Tensor var(const Tensor& a, const Axes& axes, bool keepdim, int correction) {
  const OperationName name("var");
  return cast(wide_var(a, axes, keepdim, correction), floating_dtype(a));
}

Tensor std(const Tensor& a, const Axes& axes, bool keepdim, int correction) {
  const OperationName name("std");
  return cast(sqrt(wide_var(a, axes, keepdim, correction)), floating_dtype(a));
}

Tensor logsumexp(const Tensor& a, const Axes& axes, bool keepdim) {
  const OperationName name("logsumexp");
  const std::uint32_t mask = axes_mask("logsumexp", a, axes);
  const Tensor x = widened(a);
  if (reduced_count(a, mask) == 0)
    return cast(log(reduce("logsumexp", ReduceKind::sum, x, mask, keepdim)), floating_dtype(a));
  const Tensor top = reduce("logsumexp", ReduceKind::max, x, mask, true);
  // Rows of infinities: subtracting an infinite maximum would give NaN.
  const Tensor shift = where(isinf(top), 0.0, top);
  const Tensor total = reduce("logsumexp", ReduceKind::sum, exp(x - shift), mask, true);
  Tensor result = cast(log(total) + shift, floating_dtype(a));
  if (keepdim) return result;
  for (int i = a.rank() - 1; i >= 0; --i)
    if (mask >> i & 1) result = squeeze(result, i);
  return result;
}

Tensor softmax(const Tensor& a, int axis) {
  const OperationName name("softmax");
  checked("softmax", a);
  const Tensor x = widened(a);
  const int at = checked_axis("softmax", axis, a.rank());
  if (a.numel() == 0) return contiguous(cast(x, floating_dtype(a)));
  const Tensor powers = exp(x - reduce("softmax", ReduceKind::max, x, Axes(at), true));
  // One division per row instead of one per element.
  return cast(powers * reciprocal(sum(powers, at, true)), floating_dtype(a));
}

Tensor log_softmax(const Tensor& a, int axis) {
  const OperationName name("log_softmax");
  checked("log_softmax", a);
  const Tensor x = widened(a);
  const int at = checked_axis("log_softmax", axis, a.rank());
  if (a.numel() == 0) return contiguous(cast(x, floating_dtype(a)));
  const Tensor shifted = x - reduce("log_softmax", ReduceKind::max, x, Axes(at), true);
  return cast(shifted - log(sum(exp(shifted), at, true)), floating_dtype(a));
}

namespace {

// The last axes a norm runs over: as many as the weight has.
Axes norm_axes(std::string_view op, const Tensor& a, const Tensor& weight) {
  checked(op, a);
  const int count = weight.defined() ? weight.rank() : 1;
  if (a.rank() == 0 || count > a.rank() || count == 0)
    fail_user(op, "weight is {}, which is not the end of {}",
              weight.defined() ? to_string(weight.shape()) : "absent", to_string(a.shape()));
  std::vector<int> axes;
  for (int i = a.rank() - count; i < a.rank(); ++i) axes.push_back(i);
  return axes;
}

void check_affine(std::string_view op, std::string_view which, const Tensor& a, const Tensor& t) {
  if (!t.defined()) return;
  const int lead = a.rank() - t.rank();
  for (int i = 0; i < t.rank(); ++i)
    if (lead < 0 || t.shape()[i] != a.shape()[lead + i])
      fail_user(op, "{} is {}, which is not the end of {}", which, to_string(t.shape()),
                to_string(a.shape()));
}

// The promoted dtype of the defined tensors.
DType norm_dtype(const Tensor& a, const Tensor& weight, const Tensor& bias) {
  DType dtype = floating_dtype(a);
  if (weight.defined()) dtype = promote(dtype, weight.dtype());
  return bias.defined() ? promote(dtype, bias.dtype()) : dtype;
}

}  // namespace

Tensor layer_norm(const Tensor& a, const Tensor& weight, const Tensor& bias, double eps) {
  const OperationName name("layer_norm");
  const Axes axes = norm_axes("layer_norm", a, weight.defined() ? weight : bias);
  check_affine("layer_norm", "weight", a, weight);
  check_affine("layer_norm", "bias", a, bias);
  const Tensor x = widened(a);
  const Tensor centred = x - mean(x, axes, true);
  Tensor result = centred * rsqrt(mean(square(centred), axes, true) + eps);
  if (weight.defined()) result = result * weight;
  if (bias.defined()) result = result + bias;
  return cast(result, norm_dtype(a, weight, bias));
}

Tensor rms_norm(const Tensor& a, const Tensor& weight, double eps) {
  const OperationName name("rms_norm");
  const Axes axes = norm_axes("rms_norm", a, weight);
  check_affine("rms_norm", "weight", a, weight);
  const Tensor x = widened(a);
  const Tensor result = x * rsqrt(mean(square(x), axes, true) + eps);
  return cast(weight.defined() ? result * weight : result, norm_dtype(a, weight, {}));
}

}  // namespace sinter
