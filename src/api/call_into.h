// call_into(): writes a program's results to the caller's memory. In: outputs, inputs and the
// programs for them. Out: written outputs, or a UserError before anything is written.
#pragma once

#include <span>
#include <vector>

#include "src/api/program_cache.h"
#include "src/program/build.h"

namespace sinter {

// The memory layout of a call's outputs, and which of them are inputs.
class GivenOutputs {
 public:
  // UserError for an output that is not concrete, or that overlaps itself or another one.
  GivenOutputs(std::span<const Tensor> outputs, std::span<const Tensor> inputs);

  std::span<const Tensor> tensors() const { return outputs_; }
  // Every output is row-major, and none overlaps an input.
  bool are_plain() const { return are_dense_ && in_place_.empty() && !overlap_inputs_; }
  // An output partly overlaps an input: results need memory of their own.
  bool overlap_inputs() const { return overlap_inputs_; }

  // The layout that a program for these outputs is built with, and its cache key: dtypes, shapes,
  // strides and the inputs written over. The key is valid until the thread's next call.
  OutputLayout layout() const;
  std::span<const std::uint64_t> key() const;

  // UserError naming the output unless all match the dtypes and shapes of the graph's or program's
  // results, or are on the device.
  void check(const Graph& graph) const;
  void check(const Executable& executable) const;
  void check(const Device& device) const;

 private:
  void check_one(std::size_t i) const;
  void check_count(std::size_t returned) const;
  void check_type(std::size_t i, DType dtype, const Shape& shape) const;
  void find_overlaps(std::span<const Tensor> inputs);

  std::span<const Tensor> outputs_;
  bool are_dense_ = true;
  bool overlap_inputs_ = false;
  std::vector<InPlace> in_place_;
};

// Whether every result of the program can be written to its output without a copy.
bool writes_directly(const TracedProgram& program, const GivenOutputs& outputs);
// Whether an output overlaps a tensor that the program captured.
bool overlap_captured(const TracedProgram& program, const GivenOutputs& outputs);

// Kernels write to the outputs where they can; other results are copied afterwards.
void run_traced_into(const TracedProgram& program, const GivenOutputs& outputs,
                     const Arguments& inputs);
// Computes all results before any output is written.
void run_traced_apart(const TracedProgram& program, const GivenOutputs& outputs,
                      const Arguments& inputs);

}  // namespace sinter
