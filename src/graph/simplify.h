// Simplification: the same program with less in it. Each pass is Graph in, Graph out.
#pragma once

#include <span>
#include <string_view>

#include "src/graph/graph.h"

namespace sinter {

struct GraphPass {
  std::string_view name;
  Graph (*run)(const Graph&);
};

// The passes simplify() runs, in order; `sinter dump` can show the graph after each.
std::span<const GraphPass> simplify_passes();

Graph simplify(const Graph& graph);

Graph fold_constants(const Graph& graph);  // ops on constants; x*1, same-type casts, copies
Graph expand_powers(const Graph& graph);   // pow(x, 2) is x * x, pow(x, 0.5) nearly sqrt(x)
Graph narrow_integers(
    const Graph& graph);  // i64 whose values i32 holds, where nobody sees the dtype
Graph use_identities(const Graph& graph);  // 1 + tanh(u) is 2 sigmoid(2u); twos go to constants
Graph drop_unit_axes(const Graph& graph);  // (4096, 1) is (4096): rows are recognised by shape
Graph sink_views(const Graph& graph);      // transpose(exp(x)) becomes exp(transpose(x))
Graph merge_equal(const Graph& graph);     // common subexpressions
Graph reuse_maxima(const Graph& graph);    // max(exp(u)) is exp(max(u)), where that is known
Graph remove_dead(const Graph& graph);     // nodes no output needs; inputs stay

}  // namespace sinter
