// Plan: which nodes share a kernel, where values that leave a kernel live, and for every edge
// between two kernels why it stayed unfused. Graph in, Plan out.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "src/base/machine.h"
#include "src/fuse/group_space.h"
#include "src/graph/graph.h"

namespace sinter {

struct FusionGroup {
  GroupAxes axes;                        // the index space that the kernel walks
  std::vector<NodeId> nodes;             // in evaluation order, which is that of their ids
  std::vector<NodeAxes> node_axes = {};  // by position in `nodes`
  std::vector<NodeId> outputs = {};      // those whose values leave the group
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;
  std::int64_t flops = 0;  // simple operations, by the op table's costs

  std::int64_t bytes() const { return bytes_read + bytes_written; }
  const NodeAxes& axes_of(NodeId node) const;  // of a node of the group
  // Whether a node has one value per row, not one for each element along the reduced axes.
  bool is_per_row(NodeId node) const;
  // Whether it is computed once per row; a reduction is computed from all elements of its row.
  bool is_computed_per_row(NodeId node) const;
};

// A value that one group writes and another reads back; or a part of a concat that is written by
// another group than the concat's first part.
struct UnfusedEdge {
  NodeId producer = -1;
  NodeId consumer = -1;
  int producer_group = -1;
  int consumer_group = -1;
  std::string reason;
  std::int64_t bytes = 0;  // what writing and reading it costs; 0: a kernel more
};

// Where a materialised node lives: in a buffer of its own, or inside a concat's.
struct Placement {
  NodeId buffer = -1;  // the node that owns the buffer; -1: not materialised
  View view;           // over that buffer
};

struct Plan {
  Graph graph;
  std::vector<FusionGroup> groups;    // in execution order
  std::vector<int> group_of;          // by node; -1 for leaves and concats
  std::vector<Placement> placements;  // by node
  std::vector<UnfusedEdge> unfused;

  // The view through which an operand's bytes are found in the buffer of placements[operand.node].
  View buffer_view(const Operand& operand) const;
};

struct FusionOptions {
  bool fuse = true;
  int parallelism = 1;  // how many workers a kernel should keep busy
  // Rows up to this length are shared by several workers as they are; longer ones are split where
  // they are few.
  std::int64_t whole_row = 0;
  // Elements of a reduced axis that are worth a worker of their own, where results lie side by
  // side.
  std::int64_t smallest_column_part = 2048;
  // Of one kernel; what each read and write brings with it has to fit into a launch.
  int most_accesses = std::numeric_limits<int>::max();
  // Limits of one kernel, beyond which it compiles slowly or spills registers: operations, simple
  // instructions per element, and reductions that are accumulated in one pass.
  int most_nodes = 256;
  int most_work = 4096;
  int most_reductions = 16;
  // Whether merging may split a reduced axis. Rows of several axes are walked in a loop for each
  // reduction instead of staying on chip: a CPU's cache keeps them, a GPU's registers do not.
  bool split_rows = true;
  // Simple instructions an element that a part of a split row does again rather than read a tensor
  // more.
  int repeated_cost = kHeavyCost;
  MatmulLibrary matmul_library = MatmulLibrary::none;
};

// What suits that many workers of a device.
FusionOptions fusion_options(bool fuse, int parallelism, const Machine& machine);

Plan make_plan(const Graph& graph, const FusionOptions& options);

void verify(const Plan& plan);
std::string to_string(const Plan& plan);

}  // namespace sinter
