// Graph: a tensor program as a list of Nodes in evaluation order. Every operand names the node it
// reads and the View through which it sees that node's row-major elements, so transposes, slices,
// broadcasts and reshapes are no nodes at all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/view.h"
#include "src/graph/op.h"

namespace sinter {

using NodeId = std::int32_t;

struct Operand {
  NodeId node = -1;
  View view;  // over the node's row-major elements; for an input, over the caller's buffer

  friend bool operator==(const Operand&, const Operand&) = default;
};

// A number with its kind: integers stay exact.
struct Scalar {
  double real = 0;
  std::int64_t integer = 0;
  bool is_real = true;

  static Scalar of(double value) { return {value, static_cast<std::int64_t>(0), true}; }
  static Scalar of(std::int64_t value) { return {static_cast<double>(value), value, false}; }
  // The value as `dtype` holds it.
  Scalar as(DType dtype) const;
  friend bool operator==(const Scalar&, const Scalar&) = default;
};

struct Node {
  Op op = Op::input;
  DType dtype = DType::f32;
  Shape shape;
  std::vector<Operand> operands;
  Scalar value;                              // constant; iota's start
  Scalar step;                               // iota
  ReduceKind reduce_kind = ReduceKind::sum;  // reduce
  std::uint32_t axes = 0;                    // reduce: bit i = operand axis i; concat: the axis
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<NodeId> inputs;    // nodes with op == input, in call order
  std::vector<Operand> outputs;  // what the program returns

  const Node& operator[](NodeId id) const { return nodes[static_cast<std::size_t>(id)]; }
  Node& operator[](NodeId id) { return nodes[static_cast<std::size_t>(id)]; }
  NodeId size() const { return static_cast<NodeId>(nodes.size()); }

  NodeId add(Node node);
  NodeId add_input(DType dtype, const Shape& shape);
};

// Throws InternalError when an operand points forward, a shape or dtype does not follow from its
// operands, or a view leaves its node.
void verify(const Graph& graph);

std::string to_string(const Graph& graph);
std::string to_string(const Scalar& scalar);

// The axes of a reduce's operand that stay.
Shape kept_shape(const Shape& shape, std::uint32_t axes);
// The view by which what has `shape` reads a node of its kept shape: the axes are repeated.
View row_broadcast(const Shape& shape, std::uint32_t axes);

}  // namespace sinter
