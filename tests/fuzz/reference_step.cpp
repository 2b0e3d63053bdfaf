// One step of a program on References. Composites are written out as the formulas that define them.
// In: a step and the values before it. Out: its value.
#include <algorithm>

#include "src/graph/graph.h"
#include "tests/fuzz/reference.h"

namespace sinter::fuzz {
namespace {

Reference floating(const Reference& a) { return is_floating(a.dtype) ? a : cast_to(a, DType::f32); }

std::uint32_t mask_of(const std::vector<int>& axes, int rank) {
  if (axes.empty()) return (1u << rank) - 1;
  std::uint32_t mask = 0;
  for (int axis : axes) mask |= 1u << (axis < 0 ? axis + rank : axis);
  return mask;
}

// Divides by a count of elements, which a's type need not represent exactly.
Reference divided(Reference a, double by) {
  for (Bounded& x : a.elements)
    if (x.known())
      x = rounded(x.value / by, by == 0 ? 0 : x.error / by, a.dtype, Rounding::library);
  return a;
}

double count_of(const Reference& a, std::uint32_t mask) {
  double count = 1;
  for (int i = 0; i < a.shape.rank(); ++i)
    if (mask >> i & 1) count *= static_cast<double>(a.shape[i]);
  return count;
}

Reference mean_of(const Reference& a, std::uint32_t mask, bool keepdim) {
  return divided(reduce_axes(ReduceKind::sum, floating(a), mask, keepdim), count_of(a, mask));
}

Reference variance(const Reference& a, std::uint32_t mask, bool keepdim, int correction) {
  const Reference x = floating(a);
  const Reference centred = apply_op(Op::sub, {x, mean_of(x, mask, true)});
  const Reference squares =
      reduce_axes(ReduceKind::sum, apply_op(Op::square, {centred}), mask, keepdim);
  return divided(squares, std::max(0.0, count_of(a, mask) - correction));
}

Reference log_sum_exp(const Reference& a, std::uint32_t mask, bool keepdim, Kernels kernels) {
  const Reference x = floating(a);
  if (count_of(a, mask) == 0)
    return apply_op(Op::log, {reduce_axes(ReduceKind::sum, x, mask, keepdim)});
  const Reference top = reduce_axes(ReduceKind::max, x, mask, true);
  const Reference shift =
      apply_op(Op::where, {apply_op(Op::isinf, {top}), number_like(0, top), top});
  const Reference powers = apply_op(Op::exp, {apply_op(Op::sub, {x, shift})}, kernels);
  const Reference total = reduce_axes(ReduceKind::sum, powers, mask, true);
  Reference result = apply_op(Op::add, {apply_op(Op::log, {total}), shift});
  if (!keepdim) result.shape = kept_shape(a.shape, mask);
  return result;
}

Reference soft_max(const Reference& a, int axis, bool logarithm, Kernels kernels) {
  const Reference x = floating(a);
  if (x.elements.empty()) return x;
  const std::uint32_t mask = mask_of({axis}, a.shape.rank());
  const Reference shifted = apply_op(Op::sub, {x, reduce_axes(ReduceKind::max, x, mask, true)});
  const Reference powers = apply_op(Op::exp, {shifted}, kernels);
  const Reference total = reduce_axes(ReduceKind::sum, powers, mask, true);
  return logarithm ? apply_op(Op::sub, {shifted, apply_op(Op::log, {total})})
                   : apply_op(Op::mul, {powers, apply_op(Op::reciprocal, {total})});
}

Reference normalised(const Step& step, const std::vector<Reference>& t) {
  const bool centre = step.kind == StepKind::layer_norm;
  const int rank = t[0].shape.rank();
  const int count = t.size() > 1 ? t[1].shape.rank() : 1;
  const std::uint32_t mask = ((1u << count) - 1) << (rank - count);
  Reference x = floating(t[0]);
  if (centre) x = apply_op(Op::sub, {x, mean_of(x, mask, true)});
  const Reference power = mean_of(apply_op(Op::square, {x}), mask, true);
  const Reference eps = number_like(centre ? 1e-5 : 1e-6, power);
  Reference result = apply_op(Op::mul, {x, apply_op(Op::rsqrt, {apply_op(Op::add, {power, eps})})});
  if (t.size() > 1) result = apply_op(Op::mul, {result, t[1]});
  return t.size() > 2 ? apply_op(Op::add, {result, t[2]}) : result;
}

// A number argument takes the type of the tensors beside it.
Reference number(const Step& step, std::size_t at, const std::vector<Reference>& values) {
  const std::size_t first = info(step.op).rule == DTypeRule::Select ? 1 : 0;
  bool any = false;
  DType met = DType::boolean;
  for (std::size_t i = first; i < step.args.size() && at >= first; ++i) {
    if (step.args[i].value < 0) continue;
    const DType other = values[static_cast<std::size_t>(step.args[i].value)].dtype;
    met = any ? promote(met, other) : other;
    any = true;
  }
  const bool is_real = step.args[at].is_real;
  DType dtype = met;
  if (is_real && !(any && is_floating(met))) dtype = DType::f32;
  if (!is_real && (!any || met == DType::boolean)) dtype = DType::i64;
  // Comparisons round it, arithmetic does not.
  const double value = step.args[at].number;
  if (info(step.op).rule == DTypeRule::Compare) return filled(value, dtype);
  return number_like(value, {dtype, {}, {}});
}

Reference reduction(const Step& step, const Reference& a, Kernels kernels) {
  const std::uint32_t mask = mask_of(step.axes, a.shape.rank());
  const bool is_arg = step.kind == StepKind::argmax || step.kind == StepKind::argmin;
  if (is_arg) {
    const auto kind = step.kind == StepKind::argmax ? ReduceKind::argmax : ReduceKind::argmin;
    if (!step.axes.empty()) return reduce_axes(kind, a, mask, step.keepdim);
    const Reference flat{a.dtype, {a.shape.numel()}, a.elements};
    Reference result = reduce_axes(kind, flat, 1, false);
    if (step.keepdim) result.shape = Shape::filled(a.shape.rank(), 1);
    return result;
  }
  switch (step.kind) {
    case StepKind::sum:
      return reduce_axes(ReduceKind::sum, a, mask, step.keepdim);
    case StepKind::prod:
      return reduce_axes(ReduceKind::prod, a, mask, step.keepdim);
    case StepKind::max:
      return reduce_axes(ReduceKind::max, a, mask, step.keepdim);
    case StepKind::min:
      return reduce_axes(ReduceKind::min, a, mask, step.keepdim);
    case StepKind::any:
      return reduce_axes(ReduceKind::max, cast_to(a, DType::boolean), mask, step.keepdim);
    case StepKind::all:
      return reduce_axes(ReduceKind::min, cast_to(a, DType::boolean), mask, step.keepdim);
    case StepKind::mean:
      return mean_of(a, mask, step.keepdim);
    case StepKind::var:
      return variance(a, mask, step.keepdim, step.correction);
    case StepKind::std:
      return apply_op(Op::sqrt, {variance(a, mask, step.keepdim, step.correction)});
    default:
      return log_sum_exp(a, mask, step.keepdim, kernels);
  }
}

// Gathers: the result's element at an index is `a`'s at source(index).
template <typename F>
Reference gathered(const Reference& a, const Shape& shape, F&& source) {
  Reference result{a.dtype, shape, {}};
  result.elements.reserve(static_cast<std::size_t>(shape.numel()));
  for_each_index(shape, [&](const Shape& index, std::size_t) {
    result.elements.push_back(a.elements[position(a.shape, source(index))]);
  });
  return result;
}

Reference joined(const std::vector<Reference>& parts, int axis) {
  Reference result{parts[0].dtype, parts[0].shape, {}};
  result.shape[axis] = 0;
  for (const Reference& part : parts) {
    result.dtype = promote(result.dtype, part.dtype);
    result.shape[axis] += part.shape[axis];
  }
  result.elements.resize(static_cast<std::size_t>(result.shape.numel()));
  std::int64_t start = 0;
  for (const Reference& part : parts) {
    const Reference typed = cast_to(part, result.dtype);
    for_each_index(part.shape, [&](Shape index, std::size_t at) {
      index[axis] += start;
      result.elements[position(result.shape, index)] = typed.elements[at];
    });
    start += part.shape[axis];
  }
  return result;
}

Reference padded(const Step& step, const Reference& a) {
  const int axis = step.axes[0];
  Reference result{a.dtype, a.shape, {}};
  result.shape[axis] += step.start + step.stop;
  result.elements.assign(static_cast<std::size_t>(result.shape.numel()),
                         filled(static_cast<double>(step.stride), a.dtype).elements[0]);
  for_each_index(a.shape, [&](Shape index, std::size_t at) {
    index[axis] += step.start;
    result.elements[position(result.shape, index)] = a.elements[at];
  });
  return result;
}

Reference counted(const Step& step) {
  Reference result{step.dtype, {}, {}};
  for (std::int64_t i = step.start; i < step.stop; i += step.stride)
    result.elements.push_back(filled(static_cast<double>(i), step.dtype).elements[0]);
  result.shape = {static_cast<std::int64_t>(result.elements.size())};
  return result;
}

Reference moved(const Step& step, std::vector<Reference> t) {
  Reference& a = t[0];
  Shape shape = a.shape;
  const int axis = step.axes.empty() ? 0 : step.axes[0];
  switch (step.kind) {
    case StepKind::permute:
      for (int i = 0; i < shape.rank(); ++i)
        shape[i] = a.shape[step.axes[static_cast<std::size_t>(i)]];
      return gathered(a, shape, [&](const Shape& index) {
        Shape source = index;
        for (int i = 0; i < index.rank(); ++i)
          source[step.axes[static_cast<std::size_t>(i)]] = index[i];
        return source;
      });
    case StepKind::slice:
      shape[axis] = std::max<std::int64_t>(
          0, step.stride > 0 ? (step.stop - step.start + step.stride - 1) / step.stride
                             : (step.start - step.stop - step.stride - 1) / -step.stride);
      return gathered(a, shape, [&](Shape index) {
        index[axis] = step.start + index[axis] * step.stride;
        return index;
      });
    case StepKind::pad:
      return padded(step, a);
    case StepKind::reshape:
      a.shape = step.shape;
      return a;
    case StepKind::expand:
      return broadcast_to(a, step.shape);
    case StepKind::unsqueeze:
      a.shape.insert(axis, 1);
      return a;
    case StepKind::squeeze:
      for (int i = shape.rank() - 1; i >= 0; --i)
        if (shape[i] == 1 && (step.axes.empty() || i == axis)) a.shape.erase(i);
      return a;
    case StepKind::roll:
      return gathered(a, shape, [&](Shape index) {
        index[axis] = (index[axis] + shape[axis] - step.start) % shape[axis];
        return index;
      });
    case StepKind::flip:
      return gathered(a, shape, [&](Shape index) {
        for (const int i : step.axes) index[i] = shape[i] - 1 - index[i];
        return index;
      });
    case StepKind::stack:
      for (Reference& part : t) part.shape.insert(axis, 1);
      return joined(t, axis);
    case StepKind::concat:
      return joined(t, axis);
    default:
      return a;
  }
}

}  // namespace

Reference reference_step(const Step& step, const std::vector<Reference>& values, Kernels kernels) {
  if (step.kind == StepKind::arange) return counted(step);
  if (step.kind == StepKind::full)
    return broadcast_to(filled(step.args[0].number, step.dtype), step.shape);
  std::vector<Reference> t;
  for (std::size_t i = 0; i < step.args.size(); ++i)
    t.push_back(step.args[i].value < 0 ? number(step, i, values)
                                       : values[static_cast<std::size_t>(step.args[i].value)]);
  switch (step.kind) {
    case StepKind::pointwise:
      return apply_op(step.op, t, kernels);
    case StepKind::cast:
      return cast_to(t[0], step.dtype);
    case StepKind::softmax:
    case StepKind::log_softmax:
      return soft_max(t[0], step.axes[0], step.kind == StepKind::log_softmax, kernels);
    case StepKind::layer_norm:
    case StepKind::rms_norm:
      return normalised(step, t);
    case StepKind::matmul:
      for (int i : step.axes) {
        Reference& operand = t[static_cast<std::size_t>(i)];
        operand = transposed(operand);
      }
      return multiply(t[0], t[1]);
    default:
      return step.kind < StepKind::softmax ? reduction(step, t[0], kernels)
                                           : moved(step, std::move(t));
  }
}

}  // namespace sinter::fuzz
