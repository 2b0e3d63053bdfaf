// Strength reduction of pow(x, n) for a constant n: products, a reciprocal or a root replace it.
// In: a pow node. Out: the replacement, with C's special cases of pow and about the same error.
#pragma once

#include <optional>

#include "src/graph/graph.h"

namespace sinter {

struct PowerForm {
  enum class Base : std::uint8_t { x, reciprocal, square_root, reciprocal_root };
  Base base = Base::x;
  int factors = 1;  // how often the base is multiplied
};

// Returns nullopt if pow itself is needed.
std::optional<PowerForm> power_form(const Graph& graph, const Node& pow);

// Approximate number of simple instructions per element of the node.
int cost_of(const Graph& graph, const Node& node);

}  // namespace sinter
