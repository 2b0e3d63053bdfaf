// Views, and operations that copy only if a view is impossible.
#include <sinter/ops.h>

#include <algorithm>
#include <optional>

#include "src/api/axes.h"
#include "src/api/number_checks.h"
#include "src/api/op_call.h"
#include "src/api/origin.h"
#include "src/base/check.h"

namespace sinter {

Tensor contiguous(const Tensor& a) {
  const TensorImpl& impl = checked("contiguous", a);
  if (is_dense(impl.view)) return a;
  OpCall call;
  call.op = Op::copy;
  call.args = {a};
  call.shape = a.shape();
  return apply(call);
}

namespace {

// `shape` with its -1 resolved.
Shape resolved_shape(const Tensor& a, const Shape& shape) {
  Shape result = shape;
  int unknown = -1;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] != -1) continue;
    if (unknown >= 0) fail_user("reshape", "only one size may be -1: {}", to_string(shape));
    unknown = i;
    result[i] = 1;
  }
  const std::int64_t known = checked_numel("reshape", result);
  const bool divides = known > 0 && a.numel() % known == 0;
  if (unknown >= 0 && divides) result[unknown] = a.numel() / known;
  if ((unknown >= 0 && !divides) || result.numel() != a.numel())
    fail_user("reshape", "{} has {} elements, which do not fit {}", to_string(a.shape()), a.numel(),
              to_string(shape));
  return result;
}

}  // namespace

Tensor reshape(const Tensor& a, const Shape& shape) {
  checked("reshape", a);
  const Shape target = resolved_shape(a, shape);
  if (auto view = reshape(a.impl()->view, target)) return with_view(a, *view);
  const Tensor dense = contiguous(a);
  return with_view(dense, *reshape(dense.impl()->view, target));
}

Tensor flatten(const Tensor& a) { return reshape(a, {-1}); }

Tensor permute(const Tensor& a, const Shape& axes) {
  checked("permute", a);
  Shape positive = axes;
  std::uint32_t seen = 0;
  if (axes.rank() != a.rank())
    fail_user("permute", "{} names {} axes, the tensor has {}", to_string(axes), axes.rank(),
              a.rank());
  for (int i = 0; i < axes.rank(); ++i) {
    if (axes[i] < -a.rank() || axes[i] >= a.rank())  // compared before it becomes an int
      fail_user("permute", "there is no axis {} in a tensor of {} dimensions", axes[i], a.rank());
    positive[i] = checked_axis("permute", static_cast<int>(axes[i]), a.rank());
    seen |= 1u << positive[i];
  }
  if (seen != (1u << a.rank()) - 1)
    fail_user("permute", "{} does not name every axis once", to_string(axes));
  return with_view(a, permute(a.impl()->view, positive));
}

Tensor transpose(const Tensor& a, int axis1, int axis2) {
  checked("transpose", a);
  Shape axes = Shape::filled(a.rank(), 0);
  for (int i = 0; i < a.rank(); ++i) axes[i] = i;
  std::swap(axes[checked_axis("transpose", axis1, a.rank())],
            axes[checked_axis("transpose", axis2, a.rank())]);
  return permute(a, axes);
}

namespace {

// A view while tracing. Tensors in memory have no negative strides, so these are copied.
Tensor reversed(const Tensor& a, std::uint32_t axes) {
  if (a.impl()->is_traced()) return with_view(a, reversed(a.impl()->view, axes));
  for (int i = 0; i < a.rank(); ++i)
    if (a.shape()[i] <= 1) axes &= ~(1u << i);
  if (axes == 0 || a.numel() == 0) return a;
  OpCall call;
  call.op = Op::copy;
  call.args = {a};
  call.shape = a.shape();
  call.reversed_axes = axes;
  return apply(call);
}

}  // namespace

Tensor slice(const Tensor& a, int axis, std::optional<std::int64_t> start,
             std::optional<std::int64_t> stop, std::int64_t step) {
  const View& view = checked("slice", a).view;
  const int at = checked_axis("slice", axis, a.rank());
  if (step == 0) fail_user("slice", "the step cannot be 0");
  const auto [first, count, stride] = sliced_axis(view.shape[at], start, stop, step);
  if (stride > 0) return with_view(a, slice(view, at, first, count, stride));
  const std::int64_t lowest = first + (count - 1) * stride;
  return reversed(with_view(a, slice(view, at, lowest, count, -stride)), 1u << at);
}

Tensor flip(const Tensor& a, const Axes& axes) { return reversed(a, axes_mask("flip", a, axes)); }

namespace {

// The number that a tensor is padded with.
Scalar fill_of(const Arg& value, DType dtype) {
  if (value.kind() == Arg::Kind::tensor) fail_user("pad", "the value is a number, not a tensor");
  Arg known = value;
  if (Trace* trace = current_trace()) known = Arg(trace->specialized(value.number()));
  if (known.number().is_traced())
    fail_user("pad", "a number made while tracing a function was used outside of it");
  check_value("pad", known, dtype);
  return number_of(known).as(dtype);
}

Tensor copied(const Tensor& a) {
  OpCall call;
  call.op = Op::copy;
  call.args = {a};
  call.shape = a.shape();
  return apply(call);
}

}  // namespace

Tensor pad(const Tensor& a, int axis, std::int64_t before, std::int64_t after, const Arg& value) {
  const TensorImpl& impl = checked("pad", a);
  const int at = checked_axis("pad", axis, a.rank());
  const std::int64_t length = a.shape()[at];
  std::int64_t size = 0;
  if (__builtin_add_overflow(length, before, &size) || __builtin_add_overflow(size, after, &size) ||
      size < 0 || before < -length || after < -length)
    fail_user("pad", "axis {} of {} cannot get {} elements before it and {} after it", axis,
              to_string(a.shape()), before, after);
  const Scalar fill = fill_of(value, impl.dtype);
  if (before < 0 || after < 0) {
    const Tensor part = slice(a, at, std::max<std::int64_t>(0, -before),
                              length - std::max<std::int64_t>(0, -after));
    return pad(part, at, std::max<std::int64_t>(0, before), std::max<std::int64_t>(0, after),
               value);
  }
  if (before == 0 && after == 0) return a;
  Shape shape = a.shape();
  shape[at] = size;
  checked_numel("pad", shape);
  const OperationName name("pad");
  // Copied if it is padded with another number, or if its strides are too large.
  const Tensor source = pad(impl.view, at, before, after, fill) ? a : copied(a);
  if (impl.is_traced())
    return with_view(source, *pad(source.impl()->view, at, before, after, fill));
  OpCall call;
  call.op = Op::copy;
  call.args = {source};
  call.shape = shape;
  call.padded_from = Shape::filled(a.rank(), 0);
  call.padded_from[at] = before;
  call.value = fill;
  return apply(call);
}

Tensor Tensor::operator[](std::int64_t index) const {
  const View& view = checked("index", *this).view;
  if (rank() == 0) fail_user("index", "a tensor without axes has no element {}", index);
  const std::int64_t length = view.shape[0];
  const std::int64_t at = index < 0 ? index + length : index;
  if (at < 0 || at >= length)
    fail_user("index", "there is no element {} along the first axis of {}", index,
              to_string(view.shape));
  const Tensor row = with_view(*this, sinter::slice(view, 0, at, 1, 1));
  return with_view(row, remove_axis(row.impl()->view, 0));
}

std::vector<Tensor> split(const Tensor& a, const std::vector<std::int64_t>& sizes, int axis) {
  checked("split", a);
  const int at = checked_axis("split", axis, a.rank());
  std::int64_t total = 0;
  for (std::int64_t size : sizes) {
    if (size < 0) fail_user("split", "sizes cannot be negative");
    if (__builtin_add_overflow(total, size, &total)) fail_user("split", "the sizes are too large");
  }
  if (total != a.shape()[at])
    fail_user("split", "the sizes add up to {}, axis {} of {} has {}", total, axis,
              to_string(a.shape()), a.shape()[at]);
  std::vector<Tensor> parts;
  std::int64_t start = 0;
  for (std::int64_t size : sizes) {
    parts.push_back(slice(a, at, start, start + size));
    start += size;
  }
  return parts;
}

std::vector<Tensor> chunk(const Tensor& a, std::int64_t chunks, int axis) {
  checked("chunk", a);
  const int at = checked_axis("chunk", axis, a.rank());
  if (chunks < 1) fail_user("chunk", "needs at least one chunk, not {}", chunks);
  const std::int64_t length = a.shape()[at];
  const std::int64_t size = length == 0 ? 1 : (length - 1) / chunks + 1;
  std::vector<std::int64_t> sizes;
  for (std::int64_t left = length; left > 0; left -= size) sizes.push_back(std::min(size, left));
  if (sizes.empty()) sizes.push_back(0);
  return split(a, sizes, at);
}

Tensor squeeze(const Tensor& a) {
  checked("squeeze", a);
  View view = a.impl()->view;
  for (int i = view.shape.rank() - 1; i >= 0; --i)
    if (view.shape[i] == 1) view = remove_axis(view, i);
  return with_view(a, view);
}

Tensor squeeze(const Tensor& a, int axis) {
  checked("squeeze", a);
  const int at = checked_axis("squeeze", axis, a.rank());
  return a.shape()[at] == 1 ? with_view(a, remove_axis(a.impl()->view, at)) : a;
}

Tensor unsqueeze(const Tensor& a, int axis) {
  checked("unsqueeze", a);
  return with_view(a, insert_axis(a.impl()->view, checked_axis("unsqueeze", axis, a.rank() + 1)));
}

Tensor expand(const Tensor& a, const Shape& shape) {
  checked("expand", a);
  Shape target = shape;
  const int lead = shape.rank() - a.rank();
  if (lead < 0)
    fail_user("expand", "{} has fewer axes than the tensor, {}", to_string(shape),
              to_string(a.shape()));
  for (int i = 0; i < shape.rank(); ++i) {
    const std::int64_t have = i < lead ? 1 : a.shape()[i - lead];
    if (target[i] == -1 && i >= lead) target[i] = have;
    if (target[i] < 0 || (target[i] != have && have != 1))
      fail_user("expand", "{} does not expand to {}", to_string(a.shape()), to_string(shape));
  }
  checked_numel("expand", target);
  return with_view(a, expand(a.impl()->view, target));
}

Tensor broadcast_to(const Tensor& a, const Shape& shape) { return expand(a, shape); }

std::vector<Tensor> broadcast(const std::vector<Tensor>& tensors) {
  Shape shape;
  for (const Tensor& tensor : tensors) {
    checked("broadcast", tensor);
    const Shape& other = tensor.shape();
    while (shape.rank() < other.rank()) shape.insert(0, 1);
    for (int i = 0; i < other.rank(); ++i) {
      std::int64_t& size = shape[shape.rank() - other.rank() + i];
      if (size != other[i] && size != 1 && other[i] != 1)
        fail_user("broadcast", "{} does not broadcast with {}", to_string(other), to_string(shape));
      if (size == 1) size = other[i];
    }
  }
  std::vector<Tensor> expanded;
  for (const Tensor& tensor : tensors) expanded.push_back(expand(tensor, shape));
  return expanded;
}

Tensor concat(const std::vector<Tensor>& tensors, int axis) {
  if (tensors.empty()) fail_user("concat", "needs at least one tensor");
  for (const Tensor& tensor : tensors) checked("concat", tensor);
  const Tensor& first = tensors[0];
  const int at = checked_axis("concat", axis, first.rank());
  DType dtype = first.dtype();
  Shape shape = first.shape();
  shape[at] = 0;
  for (const Tensor& tensor : tensors) {
    Shape expected = first.shape();
    if (tensor.rank() == first.rank()) expected[at] = tensor.shape()[at];
    if (tensor.shape() != expected)
      fail_user("concat", "{} and {} differ in more than axis {}", to_string(first.shape()),
                to_string(tensor.shape()), axis);
    shape[at] += tensor.shape()[at];
    checked_numel("concat", shape);
    dtype = promote(dtype, tensor.dtype());
  }
  OpCall call;
  call.op = Op::concat;
  call.shape = shape;
  call.dtype = dtype;
  call.axes = static_cast<std::uint32_t>(at);
  for (const Tensor& tensor : tensors) call.args.emplace_back(cast(tensor, dtype));
  return apply(call);
}

Tensor stack(const std::vector<Tensor>& tensors, int axis) {
  if (tensors.empty()) fail_user("stack", "needs at least one tensor");
  const int at = checked_axis("stack", axis, checked("stack", tensors[0]).view.shape.rank() + 1);
  std::vector<Tensor> raised;
  for (const Tensor& tensor : tensors) {
    checked("stack", tensor);
    if (tensor.shape() != tensors[0].shape())
      fail_user("stack", "{} and {} differ in shape", to_string(tensors[0].shape()),
                to_string(tensor.shape()));
    raised.push_back(unsqueeze(tensor, at));
  }
  return concat(raised, at);
}

}  // namespace sinter
