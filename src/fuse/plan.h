// Plan: which nodes share a kernel, where a kernel's outputs are stored, and why each edge between
// two kernels stayed unfused. Graph in, Plan out.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/by_id.h"
#include "src/base/machine.h"
#include "src/fuse/group_space.h"
#include "src/graph/graph.h"

namespace sinter {

using GroupId = std::int32_t;
inline constexpr GroupId kNoGroup = -1;

struct FusionGroup {
  GroupAxes axes;                        // the kernel's iteration space
  std::vector<NodeId> nodes;             // in evaluation order, which is id order
  std::vector<NodeAxes> node_axes = {};  // by position in `nodes`
  std::vector<NodeId> outputs = {};      // nodes that are read outside the group
  bool rows_on_chip = false;             // kernels keep rows in registers: see iteration.h
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;
  std::int64_t flops = 0;  // simple operations, by the op table's costs

  std::int64_t bytes() const { return bytes_read + bytes_written; }
  std::size_t position_of(NodeId node) const;  // in `nodes`; `node` must be in the group
  const NodeAxes& axes_of(NodeId node) const { return node_axes[position_of(node)]; }
  // Whether a node's result has one value per row (none of the reduced axes).
  bool is_per_row(NodeId node) const;
  // Whether a node is computed once per row. A reduction is not: it reads its row's elements.
  bool is_computed_per_row(NodeId node) const;
};

// A value that one group writes and another reads back, or a part of a concat that is not written
// by the group that writes the concat's first part.
struct UnfusedEdge {
  NodeId producer = -1;
  NodeId consumer = -1;
  GroupId producer_group = kNoGroup;
  GroupId consumer_group = kNoGroup;
  std::string reason;
  std::int64_t bytes = 0;  // memory traffic of the edge; 0: it only costs an extra kernel
};

// A tensor that two groups read, one kernel each, although no value goes from one to the other.
struct SharedRead {
  NodeId source = -1;
  GroupId first = kNoGroup;
  GroupId second = kNoGroup;
  std::string reason;
  std::int64_t bytes = 0;  // read twice
};

// Where a materialised node is stored: in its own buffer, or inside a concat's.
struct Placement {
  NodeId buffer = -1;  // the node that owns the buffer; -1: not materialised
  View view;           // over that buffer
};

struct Plan {
  Graph graph;
  ById<GroupId, FusionGroup> groups;  // in execution order
  ById<NodeId, GroupId> group_of;     // -1 for leaves and concats
  ById<NodeId, Placement> placements;
  std::vector<UnfusedEdge> unfused;
  std::vector<SharedRead> shared_reads = {};
  // Whether every operation gives the same bits as in a kernel of its own.
  bool separate_ops = false;
  // Whether a row's bits may depend on nothing but the row.
  bool batch_invariant = false;

  // The operand's view over the buffer of placements[operand.node].
  View buffer_view(const Operand& operand) const;
};

// Why a node with a result of layout `result` needs a kernel of its own, without any fusion; empty
// if it may share one.
using AloneRule =
    std::function<std::string_view(const Graph& graph, const Node& node, const View& result)>;

struct FusionOptions {
  bool fuse = true;
  int parallelism = 1;  // number of workers a kernel should keep busy
  // Rows up to this length are not split: several threads share one row. Longer rows are split if
  // there are few of them.
  std::int64_t whole_row = 0;
  // Smallest part of a reduced axis worth its own worker, when the innermost axis is kept (column
  // reductions).
  std::int64_t smallest_column_part = 2048;
  // Elements of a tile of adjacent columns that a kernel reduces at once; 0: it walks each column.
  std::int64_t column_tile = 0;
  // Most reads and writes of one kernel: their pointers and strides must fit the launch parameters.
  int most_accesses = std::numeric_limits<int>::max();
  // Limits of one kernel, beyond which it compiles slowly or spills registers: operations, simple
  // instructions per element, and reductions accumulated in one pass.
  int most_nodes = 256;
  int most_work = 4096;
  int most_reductions = 16;
  // Whether kernels keep rows in registers, as on a GPU. Then merging splits a reduced axis only if
  // its parts can still be walked as one: rows of several axes take a loop for each reduction.
  bool rows_on_chip = false;
  // Simple instructions per element that the kernel of a split reduction recomputes rather than
  // read one more tensor.
  int repeated_cost = kHeavyCost;
  AloneRule runs_alone = nullptr;  // null: every node may share a kernel
  bool separate_ops = false;       // see Plan
  bool batch_invariant = false;    // see make_batch_invariant()
};

// Options for a device with that many workers.
FusionOptions fusion_options(bool fuse, int parallelism, const Machine& machine);

// The number of rows may decide which operations share a kernel, but not bits: products are rounded
// before they are added in whatever kernel, values passed on between kernels are not rounded to 16
// bits, and reductions are split by their length.
void make_batch_invariant(FusionOptions& options);

// `wanted`: the requested memory layout of each result (placement.h); empty if any will do.
Plan make_plan(Graph graph, const FusionOptions& options, std::span<const View> wanted = {});

void verify(const Plan& plan);
std::string to_string(const Plan& plan);

}  // namespace sinter
