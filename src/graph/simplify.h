// Simplification: the same program with less in it. Each pass is Graph in, Graph out.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "src/graph/graph.h"

namespace sinter {

// Whether a pass may change the last bits of a result.
enum class Bits : std::uint8_t { kept, free };

// Whether a pass makes several operations of one: cheaper in one kernel, not in several.
enum class ForFusion : std::uint8_t { no, yes };

struct GraphPass {
  std::string_view name;
  Graph (*run)(const Graph&);
  Bits bits = Bits::kept;                // free: run only where bits are free
  ForFusion for_fusion = ForFusion::no;  // yes: run only where operations are fused
};

struct SimplifyOptions {
  Bits bits = Bits::free;
  bool fuse = true;
};

// The passes simplify() can run, in order; `sinter dump` can show the graph after each.
std::span<const GraphPass> simplify_passes();

// `observe`, if given, sees the graph after each pass.
using ObservePass = std::function<void(const GraphPass&, const Graph&)>;
Graph simplify(const Graph& graph, const SimplifyOptions& options = {},
               const ObservePass& observe = nullptr);

// A result that is read backwards is copied: the strides of tensors with memory are not negative.
Graph copy_reversed_outputs(const Graph& graph);
Graph fold_constants(const Graph& graph);   // exact ops on constants; x*1, same-type casts, copies
Graph fold_functions(const Graph& graph);   // and others, whose last bits kernels compute otherwise
Graph narrow_integers(const Graph& graph);  // i64 that i32 holds, where nobody sees the dtype
Graph use_identities(const Graph& graph);   // 1 + tanh(u) is 2 sigmoid(2u); twos go to constants
Graph drop_unit_axes(const Graph& graph);   // (4096, 1) is (4096): rows are recognised by shape
Graph sink_views(const Graph& graph);       // transpose(exp(x)) becomes exp(transpose(x))
Graph merge_equal(const Graph& graph);      // common subexpressions
Graph reuse_maxima(const Graph& graph);     // max(exp(u)) is exp(max(u)), where that is known
Graph remove_dead(const Graph& graph);      // nodes no output needs; inputs stay

}  // namespace sinter
