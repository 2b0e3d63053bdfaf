// GraphBuilder: the one way to make nodes. It casts and broadcasts operands by the op's rule and
// derives dtypes and shapes. In: a graph to append to. Out: Operands that see what was made.
#pragma once

#include <span>
#include <vector>

#include "src/graph/graph.h"

namespace sinter {

class GraphBuilder {
 public:
  explicit GraphBuilder(Graph& graph) : graph_(&graph) {}

  const Graph& graph() const { return *graph_; }

  // Nodes made from now on come from there.
  void set_origin(OriginId origin) { origin_ = origin; }
  OriginId origin() const { return origin_; }

  Operand input(DType dtype, const Shape& shape);
  // A number, repeated to `shape`. It keeps the precision it has: the caller rounds it.
  Operand constant(const Scalar& value, DType dtype, const Shape& shape = {});
  // A constant with the dtype and shape of `like` and the precision that kernels compute in.
  Operand number_like(const Operand& like, double value);
  // A number of the graph's table, repeated to `shape`.
  Operand number(NumberId number, DType dtype, const Shape& shape = {});
  NumberTable& numbers() { return graph_->numbers; }
  // start + step * i, for i < count.
  Operand range(std::int64_t count, const Scalar& start, const Scalar& step, DType dtype);

  // Operands are broadcast against each other and cast as the op's rule says.
  Operand pointwise(Op op, std::span<const Operand> operands);
  Operand pointwise(Op op, std::initializer_list<Operand> operands) {
    return pointwise(op, std::span(operands.begin(), operands.size()));
  }
  // The operand itself if it has the dtype.
  Operand cast(const Operand& operand, DType dtype);
  Operand copy(const Operand& operand) { return pointwise(Op::copy, {operand}); }
  // The operand itself if it is not padded; else a node that has what it shows, for reductions and
  // others that do not read through padded views.
  Operand unpadded(const Operand& operand);
  Operand reduce(ReduceKind kind, const Operand& operand, std::uint32_t axes);
  // Sums the products of two operands of one shape and dtype over some axes. The result has their
  // dtype, or the one that is computed in.
  Operand contract(const Operand& a, const Operand& b, std::uint32_t axes, DType dtype);
  Operand concat(std::vector<Operand> operands, int axis);

  // A node whose fields all follow from another one's. Without an origin it gets the builder's.
  Operand add(Node node);

 private:
  Operand is_in_window(const View& view);

  Graph* graph_;
  OriginId origin_ = kNoOrigin;
};

// The shape that these operands broadcast to.
Shape broadcast_shape(std::span<const Operand> operands);

}  // namespace sinter
