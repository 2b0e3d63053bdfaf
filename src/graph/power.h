// pow(x, n) for a constant n that products, a reciprocal or a root give.
// In: a pow node. Out: what to compute instead, with pow's special cases (C's) and about its error.
#pragma once

#include <optional>

#include "src/graph/graph.h"

namespace sinter {

struct PowerForm {
  enum class Base : std::uint8_t { x, reciprocal, square_root, reciprocal_root };
  Base base = Base::x;
  int factors = 1;  // of the product of bases
};

// Nothing where pow itself is needed.
std::optional<PowerForm> power_form(const Graph& graph, const Node& pow);

// About how many simple instructions an element of the node takes.
int cost_of(const Graph& graph, const Node& node);

}  // namespace sinter
