// GraphMaker: writes small graphs in few words. An Operand stands for a value and the view it is
// seen through; numbers are constants. Shapes must agree, as in a Graph: use expanded().
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "src/base/view.h"
#include "src/graph/graph.h"

namespace sinter::testing_support {

class GraphMaker {
 public:
  Operand input(const Shape& shape, DType dtype = DType::f32) {
    return {graph.add_input(dtype, shape), dense_view(shape)};
  }
  // An input seen through `view` over the caller's buffer.
  Operand input_view(const View& view, DType dtype = DType::f32) {
    return {graph.add_input(dtype, view.shape), view};
  }
  // A number, repeated to `shape`.
  Operand number(double value, const Shape& shape = {}, DType dtype = DType::f32) {
    Node node;
    node.op = Op::constant;
    node.dtype = dtype;
    node.value = Scalar::of(value).as(dtype);
    return {graph.add(std::move(node)), expand(dense_view({}), shape)};
  }
  Operand range(std::int64_t count, Scalar start, Scalar step, DType dtype) {
    Node node;
    node.op = Op::iota;
    node.dtype = dtype;
    node.shape = {count};
    node.value = start;
    node.step = step;
    return whole(graph.add(std::move(node)));
  }
  // The result's dtype by the op's rule.
  Operand op(Op op, std::vector<Operand> operands) {
    Node node;
    node.op = op;
    node.shape = operands[0].view.shape;
    std::vector<DType> dtypes;
    for (const Operand& operand : operands) dtypes.push_back(graph[operand.node].dtype);
    node.dtype = op_types(op, dtypes).result;
    node.operands = std::move(operands);
    return whole(graph.add(std::move(node)));
  }
  Operand cast(const Operand& operand, DType dtype) {
    Node node;
    node.op = Op::cast;
    node.dtype = dtype;
    node.shape = operand.view.shape;
    node.operands = {operand};
    return whole(graph.add(std::move(node)));
  }
  Operand reduce(ReduceKind kind, const Operand& operand, std::initializer_list<int> axes) {
    Node node;
    node.op = Op::reduce;
    node.reduce_kind = kind;
    for (int axis : axes) node.axes |= 1u << axis;
    node.dtype = reduce_dtype(kind, graph[operand.node].dtype);
    node.shape = kept_shape(operand.view.shape, node.axes);
    node.operands = {operand};
    return whole(graph.add(std::move(node)));
  }
  Operand concat(std::vector<Operand> operands, int axis) {
    Node node;
    node.op = Op::concat;
    node.dtype = graph[operands[0].node].dtype;
    node.axes = static_cast<std::uint32_t>(axis);
    node.shape = operands[0].view.shape;
    node.shape[axis] = 0;
    for (const Operand& operand : operands) node.shape[axis] += operand.view.shape[axis];
    node.operands = std::move(operands);
    return whole(graph.add(std::move(node)));
  }
  void output(const Operand& operand) { graph.outputs.push_back(operand); }

  Graph graph;

 private:
  Operand whole(NodeId id) const { return {id, dense_view(graph[id].shape)}; }
};

// The same value through another view.
inline Operand seen(Operand operand, View view) { return {operand.node, std::move(view)}; }
inline Operand transposed(const Operand& operand) {
  return seen(operand, permute(operand.view, {1, 0}));
}
inline Operand expanded(const Operand& operand, const Shape& shape) {
  return seen(operand, expand(operand.view, shape));
}
// A row-level value, one a row, repeated along a new last axis.
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
