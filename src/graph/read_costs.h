// Which values are cheaper to compute again where they are read than to write to memory and read
// back: cheap pointwise nodes that are read through slices, shifts and padding, and concats.
// In: a Graph. Out: a choice for every node.
#pragma once

#include <cstdint>

#include "src/graph/graph.h"

namespace sinter {

struct Recomputed {
  // Whether a reader that sees other elements, or elements in other places, computes them itself.
  bool at_readers = false;
  // A concat that is needed in memory as well: one pointwise node writes it, not its parts.
  bool as_node = false;
  // Whether nodes that are computed again may compute this one again.
  bool allowed = false;
};

ById<NodeId, Recomputed> find_recomputed(const Graph& graph);

// Whether a node that is computed at its readers is computed again for this view of it. A view of
// all elements in order reads the node itself.
bool reads_elsewhere(const Graph& graph, const Operand& operand);

}  // namespace sinter
