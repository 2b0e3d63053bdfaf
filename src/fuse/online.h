// Online sums: sum(exp(u - max(u))), which can be made without the maximum of all u: by correcting
// it whenever a greater one comes (src/lower/online.h), or from parts with maxima of their own.
// In: a Graph. Out: the parts of that pattern.
#pragma once

#include <optional>

#include "src/graph/graph.h"

namespace sinter {

struct OnlineNodes {
  NodeId max = -1;
  NodeId below = -1;  // u - max
  NodeId power = -1;
  NodeId sum = -1;
};

// `sum` as the last node of the pattern; nothing if it is none. u is of floats, and so is the sum:
// no rounding but what the program's own types ask for is in between.
std::optional<OnlineNodes> online_nodes(const Graph& graph, NodeId sum);

}  // namespace sinter
