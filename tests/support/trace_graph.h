// The graph of a function written with the public API, without a device and without data.
#pragma once

#include <sinter/ops.h>

#include <memory>
#include <vector>

#include "src/api/trace.h"

namespace sinter::testing_support {

struct InputSpec {
  View view;
  DType dtype = DType::f32;

  InputSpec(const Shape& shape, DType type = DType::f32)  // NOLINT: meant to convert
      : view(dense_view(shape)), dtype(type) {}
  InputSpec(View strided, DType type = DType::f32) : view(std::move(strided)), dtype(type) {}
};

// f takes a const std::vector<Tensor>& and returns the results.
template <typename F>
Graph trace_graph(const std::vector<InputSpec>& inputs, F&& f) {
  auto trace = std::make_shared<Trace>();
  std::vector<Tensor> traced;
  for (const InputSpec& input : inputs) {
    const Operand operand = trace->build.input(input.dtype, input.view.shape);
    traced.push_back(trace->traced({operand.node, input.view}));
  }
  std::vector<Tensor> results;
  {
    const TraceScope scope(trace.get());
    results = f(traced);
  }
  for (const Tensor& result : results) trace->graph.outputs.push_back(trace->operand(result));
  return trace->graph;
}

}  // namespace sinter::testing_support
