// GraphMaker: builds small graphs concisely, on top of GraphBuilder. An Operand is a value and the
// view through which it is read.
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "src/base/view.h"
#include "src/graph/builder.h"

namespace sinter::testing_support {

class GraphMaker {
 public:
  GraphMaker() = default;
  GraphMaker(const GraphMaker& other) : graph(other.graph) {}  // each builds its own graph
  GraphMaker& operator=(const GraphMaker&) = delete;

  Operand input(const Shape& shape, DType dtype = DType::f32) { return build.input(dtype, shape); }
  // An input read through `view` over the caller's buffer.
  Operand input_view(const View& view, DType dtype = DType::f32) {
    return {build.input(dtype, view.shape).node, view};
  }
  // A number, repeated to `shape`.
  Operand number(double value, const Shape& shape = {}, DType dtype = DType::f32) {
    return build.constant(Scalar::of(value).as(dtype), dtype, shape);
  }
  Operand range(std::int64_t count, Scalar start, Scalar step, DType dtype) {
    return build.range(count, start, step, dtype);
  }
  Operand op(Op op, const std::vector<Operand>& operands) { return build.pointwise(op, operands); }
  // Adds a node even if the dtype stays the same.
  Operand cast(const Operand& operand, DType dtype) {
    return build.add(
        {.op = Op::cast, .dtype = dtype, .shape = operand.view.shape, .operands = {operand}});
  }
  Operand reduce(ReduceKind kind, const Operand& operand, std::initializer_list<int> axes) {
    std::uint32_t mask = 0;
    for (int axis : axes) mask |= 1u << axis;
    return build.reduce(kind, operand, mask);
  }
  Operand concat(std::vector<Operand> operands, int axis) {
    return build.concat(std::move(operands), axis);
  }
  void output(const Operand& operand) { graph.outputs.push_back(operand); }

  Graph graph;
  GraphBuilder build{graph};
};

// The same value through another view.
inline Operand seen(Operand operand, View view) { return {operand.node, std::move(view)}; }
inline Operand transposed(const Operand& operand) {
  return seen(operand, permute(operand.view, {1, 0}));
}
inline Operand expanded(const Operand& operand, const Shape& shape) {
  return seen(operand, expand(operand.view, shape));
}
// A per-row value, repeated along a new last axis.
inline Operand along_rows(const Operand& operand, std::int64_t columns) {
  Shape shape = operand.view.shape;
  shape.push_back(columns);
  return seen(operand, expand(insert_axis(operand.view, operand.view.shape.rank()), shape));
}
inline Operand sliced(const Operand& operand, int axis, std::int64_t start, std::int64_t size,
                      std::int64_t step = 1) {
  return seen(operand, slice(operand.view, axis, start, size, step));
}

}  // namespace sinter::testing_support
