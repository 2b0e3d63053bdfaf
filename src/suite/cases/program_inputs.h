// Input tensors for programs that are not cases of the suite. In: a graph's inputs. Out: dense
// tensors, the same in every run.
#pragma once

#include <sinter/tensor.h>

#include <memory>
#include <vector>

#include "src/graph/graph.h"
#include "src/runtime/device.h"
#include "src/suite/cases/tensor_spec.h"

namespace sinter::suite {

std::vector<TensorSpec> input_specs(const Graph& graph);
std::vector<TensorSpec> output_specs(const Graph& graph);

// Floats are normally distributed, integers are small (4 times such a number, rounded), bools are
// random.
std::vector<Tensor> random_inputs(const std::vector<TensorSpec>& specs,
                                  const std::shared_ptr<Device>& device);

// For compiling only: addresses not backed by memory, so that any shape can be inspected.
std::vector<Tensor> unbacked_inputs(const std::vector<TensorSpec>& specs,
                                    const std::shared_ptr<Device>& device);

}  // namespace sinter::suite
