// Checking graphs that were read from text: plans for a CPU and a GPU verify, and small graphs give
// the same results fused, operation by operation, and in f64.
// In: a graph. Out: what is wrong with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "src/graph/graph.h"

namespace sinter::fuzz {

// Elements computed and read by all nodes; 2^50 or more: it is not known.
std::int64_t work_of(const Graph& graph);

// Plans the graph and lowers its kernels, without running them.
void verify_plans(const Graph& graph);

// Interprets the graph on random inputs.
std::optional<std::string> compare_runs(const Graph& graph);

}  // namespace sinter::fuzz
