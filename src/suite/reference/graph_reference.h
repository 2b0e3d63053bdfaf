// The reference of a program that has no reference of its own: its graph, evaluated element by
// element in f64 (integers in i64) with a bound on the error of each element. In: a graph, its
// inputs in host memory, a sample of its outputs. Out: these elements. Shares no plan, lowering or
// kernel with the program it checks.
#pragma once

#include <sinter/tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "src/cpu/thread_pool.h"
#include "src/graph/bounded.h"
#include "src/graph/graph.h"
#include "src/suite/reference/sample.h"

namespace sinter::suite {

// Where the checked program may round 16-bit values.
enum class Roundings : std::uint8_t {
  each_value,  // after every operation: values go through memory between kernels
  outputs,     // only in casts and stores: one kernel computes everything
};

struct ReferenceOptions {
  bounded::Kernels kernels = bounded::Kernels::host;
  Roundings roundings = Roundings::each_value;
};

// `inputs` are dense and in host memory. For every output, the elements of its sample.
std::vector<std::vector<bounded::Bounded>> evaluate_graph(const Graph& graph, const Sample& sample,
                                                          std::span<const Tensor> inputs,
                                                          const ReferenceOptions& options,
                                                          ThreadPool& threads);

// An element of a dense array.
bounded::Bounded element_at(const void* data, DType dtype, std::int64_t position);

}  // namespace sinter::suite
