// GraphBuilder's implementation.
#include "src/graph/builder.h"

#include <limits>
#include <utility>

#include "src/base/check.h"

namespace sinter {

Shape broadcast_shape(std::span<const Operand> operands) {
  Shape shape;
  for (const Operand& operand : operands) {
    const Shape& other = operand.view.shape;
    while (shape.rank() < other.rank()) shape.insert(0, 1);
    for (int i = 1; i <= other.rank(); ++i) {
      std::int64_t& size = shape[shape.rank() - i];
      const std::int64_t theirs = other[other.rank() - i];
      SINTER_ASSERT(size == theirs || size == 1 || theirs == 1, "{} and {} do not broadcast",
                    to_string(shape), to_string(other));
      if (size == 1) size = theirs;
    }
  }
  return shape;
}

Operand GraphBuilder::add(Node node) {
  if (node.origin == kNoOrigin) node.origin = origin_;
  graph_->nodes.push_back(std::move(node));
  return graph_->whole(graph_->size() - 1);
}

Operand GraphBuilder::input(DType dtype, const Shape& shape) {
  Operand input = add({.op = Op::input, .dtype = dtype, .shape = shape});
  graph_->inputs.push_back(input.node);
  return input;
}

Operand GraphBuilder::constant(const Scalar& value, DType dtype, const Shape& shape) {
  const Operand number = add({.op = Op::constant, .dtype = dtype, .value = value});
  return {number.node, expand(number.view, shape)};
}

Operand GraphBuilder::number(NumberId number, DType dtype, const Shape& shape) {
  const Operand made = add({.op = Op::number, .dtype = dtype, .number = number});
  return {made.node, expand(made.view, shape)};
}

Operand GraphBuilder::number_like(const Operand& like, double value) {
  const DType dtype = graph_->dtype(like);
  return constant(Scalar::of(value).as(compute_dtype(dtype)), dtype, like.view.shape);
}

Operand GraphBuilder::range(std::int64_t count, const Scalar& start, const Scalar& step,
                            DType dtype) {
  return add({.op = Op::iota, .dtype = dtype, .shape = {count}, .value = start, .step = step});
}

Operand GraphBuilder::pointwise(Op op, std::span<const Operand> given) {
  const std::vector<Operand> operands(given.begin(), given.end());  // cast() may invalidate it
  std::vector<DType> dtypes;
  for (const Operand& operand : operands) dtypes.push_back(graph_->dtype(operand));
  const OpTypes types = op_types(op, dtypes);
  Node node{.op = op_on(op, types.operands[operands.size() - 1]),
            .dtype = types.result,
            .shape = broadcast_shape(operands)};
  node.operands.reserve(operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    Operand operand = operands[i];
    if (operand.view.shape != node.shape) operand.view = expand(operand.view, node.shape);
    node.operands.push_back(cast(operand, types.operands[i]));
  }
  return add(std::move(node));
}

Operand GraphBuilder::cast(const Operand& operand, DType dtype) {
  if (graph_->dtype(operand) == dtype) return operand;
  return add({.op = Op::cast, .dtype = dtype, .shape = operand.view.shape, .operands = {operand}});
}

// Selects by the index along each padded axis.
Operand GraphBuilder::is_in_window(const View& view) {
  std::vector<Operand> conditions;
  for (int axis = 0; axis < view.shape.rank(); ++axis) {
    if (!view.is_padded_along(axis)) continue;
    const bool is_short = view.shape[axis] < std::numeric_limits<std::int32_t>::max();
    const DType dtype = is_short ? DType::i32 : DType::i64;
    Operand index =
        range(view.shape[axis], Scalar::of(std::int64_t{0}), Scalar::of(std::int64_t{1}), dtype);
    index.view = {view.shape, Shape::filled(view.shape.rank(), 0), 0};
    index.view.strides[axis] = 1;
    const auto bound = [&](std::int64_t at) { return constant(Scalar::of(at), dtype, view.shape); };
    if (const std::int64_t first = view.window->first[axis]; first > 0)
      conditions.push_back(pointwise(Op::ge, {index, bound(first)}));
    if (const std::int64_t last = view.window->last[axis]; last < view.shape[axis])
      conditions.push_back(pointwise(Op::lt, {index, bound(last)}));
  }
  Operand all = conditions[0];
  for (std::size_t i = 1; i < conditions.size(); ++i)
    all = pointwise(Op::logical_and, {all, conditions[i]});
  return all;
}

Operand GraphBuilder::unpadded(const Operand& operand) {
  if (!operand.view.is_padded()) return operand;
  const DType dtype = graph_->dtype(operand);
  const View view = without_repeats(operand.view);
  const auto fill = [&] { return constant(view.window->fill, dtype, view.shape); };
  Operand shown;
  if (shows_fill_only(view)) {
    shown = fill();
  } else if (is_scalar((*graph_)[operand.node].op)) {
    const Operand number{operand.node, {view.shape, Shape::filled(view.shape.rank(), 0)}};
    shown = pointwise(Op::where, {is_in_window(view), number, fill()});
  } else {
    shown = copy({operand.node, view});
  }
  return {shown.node, expand(shown.view, operand.view.shape)};
}

Operand GraphBuilder::viewed(const Operand& target, const View& view) {
  if (view.is_padded() && is_scalar((*graph_)[target.node].op))
    return unpadded({target.node, view});
  if (is_whole(*graph_, target)) return {target.node, view};
  if (const auto composed = compose(view, target.view)) return {target.node, *composed};
  return {copy(target).node, view};
}

Operand GraphBuilder::reduce(ReduceKind kind, const Operand& operand, std::uint32_t axes) {
  return add({.op = Op::reduce,
              .dtype = reduce_dtype(kind, graph_->dtype(operand)),
              .shape = kept_shape(operand.view.shape, axes),
              .operands = {operand},
              .reduce_kind = kind,
              .axes = axes,
              .keeps_innermost = keeps_innermost_});
}

Operand GraphBuilder::contract(const Operand& a, const Operand& b, std::uint32_t axes,
                               DType dtype) {
  return add({.op = Op::contract,
              .dtype = dtype,
              .shape = kept_shape(a.view.shape, axes),
              .operands = {a, b},
              .axes = axes,
              .keeps_innermost = keeps_innermost_});
}

Operand GraphBuilder::concat(std::vector<Operand> operands, int axis) {
  Node node{.op = Op::concat,
            .dtype = graph_->dtype(operands[0]),
            .shape = operands[0].view.shape,
            .axes = static_cast<std::uint32_t>(axis)};
  node.shape[axis] = 0;
  for (const Operand& operand : operands) node.shape[axis] += operand.view.shape[axis];
  node.operands = std::move(operands);
  return add(std::move(node));
}

}  // namespace sinter
