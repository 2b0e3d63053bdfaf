// Graph: a tensor program as a list of Nodes in evaluation order. Every operand names the node it
// reads and the View through which it reads that node's row-major elements, so transposes, slices,
// broadcasts and reshapes need no nodes. GraphBuilder makes nodes, GraphRewriter copies graphs.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "src/base/by_id.h"
#include "src/base/fields.h"
#include "src/base/scalar.h"
#include "src/base/view.h"
#include "src/graph/numbers.h"
#include "src/graph/op.h"
#include "src/graph/reduction.h"

namespace sinter {

using NodeId = std::int32_t;
using OriginId = std::int32_t;
inline constexpr OriginId kNoOrigin = -1;

constexpr auto fields_of(const Window*) {
  return std::tuple{key_field("first", &Window::first), key_field("last", &Window::last),
                    key_field("fill", &Window::fill)};
}
static_assert(kListsEveryField<Window>);

constexpr auto fields_of(const View*) {
  return std::tuple{key_field("shape", &View::shape), key_field("strides", &View::strides),
                    key_field("offset", &View::offset), key_field("window", &View::window)};
}
static_assert(kListsEveryField<View>);

// Only pointwise nodes read through padded views, and never scalars: GraphBuilder::unpadded() turns
// a padded number into a selection by index.
struct Operand {
  NodeId node = -1;
  View view;  // over the node's row-major elements; for an input, over the caller's buffer

  friend bool operator==(const Operand&, const Operand&) = default;
};

constexpr auto fields_of(const Operand*) {
  return std::tuple{key_field("node", &Operand::node), key_field("view", &Operand::view)};
}
static_assert(kListsEveryField<Operand>);

struct Node {
  Op op = Op::input;
  DType dtype = DType::f32;
  Shape shape = {};
  std::vector<Operand> operands = {};
  Scalar value = {};                         // constant; iota's start
  Scalar step = {};                          // iota
  ReduceKind reduce_kind = ReduceKind::sum;  // reduce
  std::uint32_t axes = 0;  // reduce, contract: bit i = operand axis i; concat: the axis
  // reduce, contract of a batch-invariant program: the operand's innermost axis, as traced, is
  // kept. Unit axes are dropped later, so that sizes no longer tell.
  bool keeps_innermost = false;
  NumberId number = kNoNumber;  // number: entry of Graph::numbers
  OriginId origin = kNoOrigin;  // entry of Graph::origins
};

constexpr auto fields_of(const Node*) {
  return std::tuple{key_field("op", &Node::op),
                    key_field("dtype", &Node::dtype),
                    key_field("shape", &Node::shape),
                    key_field("operands", &Node::operands),
                    key_field("value", &Node::value),
                    key_field("step", &Node::step),
                    key_field("reduce_kind", &Node::reduce_kind),
                    key_field("axes", &Node::axes),
                    key_field("keeps_innermost", &Node::keeps_innermost),
                    key_field("number", &Node::number),
                    note_field("origin", &Node::origin)};
}
static_assert(kListsEveryField<Node>);

// Where a node comes from: an operation the user's program called, and the scope it was called in.
struct Origin {
  std::string operation;  // "softmax"
  std::string scope;      // "encoder/layer0"; empty: none

  friend bool operator==(const Origin&, const Origin&) = default;
};
std::string to_string(const Origin& origin);  // "encoder/layer0/softmax"

struct Graph {
  ById<NodeId, Node> nodes;
  std::vector<NodeId> inputs;    // nodes with op == input, in call order
  std::vector<Operand> outputs;  // the program's results
  ById<OriginId, Origin> origins;
  NumberTable numbers;

  const Node& operator[](NodeId id) const { return nodes[id]; }
  Node& operator[](NodeId id) { return nodes[id]; }
  NodeId size() const { return static_cast<NodeId>(nodes.size()); }

  // An operand that reads the whole node, in order.
  Operand whole(NodeId id) const { return {id, dense_view((*this)[id].shape)}; }
  DType dtype(const Operand& operand) const { return (*this)[operand.node].dtype; }
};

// Throws InternalError when an operand points forward, a shape or dtype does not follow from its
// operands, or a view leaves its node.
void verify(const Graph& graph);

// Text that parse_graph() (src/graph/parse.h) reads back; docs/TEXT.md describes the format.
std::string to_string(const Graph& graph);
// "sum", "exp": the operation's name; for a reduction, its kind.
std::string_view name_of(const Node& node);

// Visits every operand of the graph's nodes, then its outputs.
template <typename Visit>
void for_each_operand(const Graph& graph, Visit&& visit) {
  for (const Node& node : graph.nodes)
    for (const Operand& operand : node.operands) visit(operand);
  for (const Operand& output : graph.outputs) visit(output);
}

// How many operands and outputs read each node.
ById<NodeId, int> count_uses(const Graph& graph);

// Whether the operand reads the whole node, in order.
bool is_whole(const Graph& graph, const Operand& operand);

// The shape left after reducing over `axes`.
Shape kept_shape(const Shape& shape, std::uint32_t axes);
// The view that broadcasts a node of kept_shape(shape, axes) back to `shape`.
View row_broadcast(const Shape& shape, std::uint32_t axes);

}  // namespace sinter
