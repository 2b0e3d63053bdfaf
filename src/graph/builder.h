// GraphBuilder: the one way to make nodes. It casts and broadcasts operands by the op's rule and
// derives dtypes and shapes. In: a graph to append to. Out: Operands that view the new nodes.
#pragma once

#include <span>
#include <vector>

#include "src/graph/graph.h"

namespace sinter {

class GraphBuilder {
 public:
  explicit GraphBuilder(Graph& graph) : graph_(&graph) {}

  const Graph& graph() const { return *graph_; }

  // The origin of all nodes added from now on.
  void set_origin(OriginId origin) { origin_ = origin; }
  OriginId origin() const { return origin_; }

  // Node::keeps_innermost of all reductions added from now on.
  void set_keeps_innermost(bool keeps) { keeps_innermost_ = keeps; }

  Operand input(DType dtype, const Shape& shape);
  // A number, broadcast to `shape`. It is not rounded to `dtype`: the caller does that.
  Operand constant(const Scalar& value, DType dtype, const Shape& shape = {});
  // A constant with the dtype and shape of `like`, rounded to the precision kernels compute in.
  Operand number_like(const Operand& like, double value);
  // An entry of the graph's number table, broadcast to `shape`.
  Operand number(NumberId number, DType dtype, const Shape& shape = {});
  NumberTable& numbers() { return graph_->numbers; }
  // start + step * i, for i < count.
  Operand range(std::int64_t count, const Scalar& start, const Scalar& step, DType dtype);

  // Operands are broadcast against each other and cast as the op's rule says.
  Operand pointwise(Op op, std::span<const Operand> operands);
  Operand pointwise(Op op, std::initializer_list<Operand> operands) {
    return pointwise(op, std::span(operands.begin(), operands.size()));
  }
  // Returns the operand itself if it already has the dtype.
  Operand cast(const Operand& operand, DType dtype);
  Operand copy(const Operand& operand) { return pointwise(Op::copy, {operand}); }
  // The operand itself if it is not padded; else a copy of it, for reductions and other nodes that
  // do not read through padded views.
  Operand unpadded(const Operand& operand);
  // A view of the target's row-major elements. Adds a copy of the target if the two views do not
  // compose, and of a padded number, which no node reads.
  Operand viewed(const Operand& target, const View& view);
  Operand reduce(ReduceKind kind, const Operand& operand, std::uint32_t axes);
  // Sums the products of two operands over `axes`. Both have the same shape and dtype; the result
  // has that dtype or the one kernels accumulate in.
  Operand contract(const Operand& a, const Operand& b, std::uint32_t axes, DType dtype);
  Operand concat(std::vector<Operand> operands, int axis);

  // Whether each index of a padded view is in its window, as bools.
  Operand is_in_window(const View& view);

  // Adds a complete node as it is. A node without an origin gets the builder's.
  Operand add(Node node);

 private:
  Graph* graph_;
  OriginId origin_ = kNoOrigin;
  bool keeps_innermost_ = false;
};

// The common shape the operands broadcast to.
Shape broadcast_shape(std::span<const Operand> operands);

}  // namespace sinter
