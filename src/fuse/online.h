// Online softmax sums: sum(exp(u - max(u))) can be computed before the final maximum is known,
// either by rescaling it whenever the running maximum grows (src/lower/online.h) or from parts with
// their own maxima. In: a Graph. Out: the nodes of that pattern.
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

// Matches the pattern that ends in `sum`; nullopt if there is no match. u and the sum have the same
// floating-point compute dtype, so online summation adds no rounding.
std::optional<OnlineNodes> online_nodes(const Graph& graph, NodeId sum);

}  // namespace sinter
