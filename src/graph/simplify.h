// Simplification passes: the same program with less work. Each pass is Graph in, Graph out, by
// value: a pass that finds nothing to do returns its graph unchanged.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "src/graph/graph.h"

namespace sinter {

// Whether a pass may change the last bits of a result.
enum class Bits : std::uint8_t { kept, free };

// Whether a pass adds work that is cheaper than memory traffic in one kernel, but not in several.
enum class ForFusion : std::uint8_t { no, yes };

struct GraphPass {
  std::string_view name;
  Graph (*run)(Graph);
  Bits bits = Bits::kept;                // free: run only if SimplifyOptions::bits is free
  ForFusion for_fusion = ForFusion::no;  // yes: run only if operations are fused
};

struct SimplifyOptions {
  Bits bits = Bits::free;
  bool fuse = true;
};

// The passes simplify() can run, in order; `sinter dump` can show the graph after each.
std::span<const GraphPass> simplify_passes();

// `observe`, if given, is called with the graph after each pass.
using ObservePass = std::function<void(const GraphPass&, const Graph&)>;
Graph simplify(Graph graph, const SimplifyOptions& options = {},
               const ObservePass& observe = nullptr);

// Sets Node::keeps_innermost; for traced graphs of batch-invariant programs.
Graph note_kept_axes(Graph graph);

// Copies outputs with negative strides: tensors the caller gets have no negative strides.
Graph copy_reversed_outputs(Graph graph);
Graph fold_constants(Graph graph);      // exact ops on constants; x*1, same-type casts
Graph fold_functions(Graph graph);      // also inexact ops: last bits may differ from kernels'
Graph narrow_integers(Graph graph);     // i64 to i32, where values fit and nothing shows it
Graph use_identities(Graph graph);      // 1 + tanh(u) is 2 sigmoid(2u); folds 2s into constants
Graph pick_before_work(Graph graph);    // an element picked by its index, then the work on it
Graph drop_unit_axes(Graph graph);      // (4096, 1) is (4096): rows are recognised by shape
Graph sink_views(Graph graph);          // transpose(exp(x)) becomes exp(transpose(x))
Graph repeat_cheap_work(Graph graph);   // the same through broadcasts: relu(bias) for every row
Graph compute_where_read(Graph graph);  // cheap values seen through slices, padding, concats
Graph merge_equal(Graph graph);         // common subexpressions
Graph reuse_maxima(Graph graph);        // max(exp(u)) is exp(max(u)), if max(u) is computed
Graph remove_dead(Graph graph);         // removes nodes no output needs; keeps inputs

}  // namespace sinter
