// Trace: the graph of a function while it runs under compile(), or of a single operation.
#pragma once

#include <sinter/compile.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "src/api/tensor_impl.h"
#include "src/graph/builder.h"

namespace sinter {

class Trace;

// What a Number refers to while a function is traced.
class TracedNumber {
 public:
  TracedNumber(std::weak_ptr<Trace> trace, NumberId id) : trace_(std::move(trace)), id_(id) {}
  std::shared_ptr<Trace> trace() const { return trace_.lock(); }
  NumberId id() const { return id_; }

 private:
  std::weak_ptr<Trace> trace_;
  NumberId id_;
};

// The value of a number that is not traced.
Scalar scalar_of(const Number& number);
// The inverse.
Number number_of(NumberKind kind, const Scalar& value);

class Trace : public std::enable_shared_from_this<Trace> {
 public:
  Trace() = default;
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  Tensor add_input(const Tensor& example);
  // The tensor that stands for a value of the graph.
  Tensor traced(const Operand& operand);
  // The operand for a tensor of this trace, or for a concrete one, which becomes another input.
  Operand operand(const Tensor& tensor);

  Number add_number(const Number& example);
  Number traced(NumberKind kind, NumberId id);
  // The table's entry for a number of this trace, or for a concrete one.
  NumberId number(const Number& number);
  // The number's value in this call. The program is then valid only for calls with that value.
  Number specialized(const Number& number);

  // The target device; null until an input or a captured tensor determines it.
  std::shared_ptr<Device> device;
  Graph graph;
  GraphBuilder build{graph};
  // The latest call of an operation that records several nodes (origin.h).
  struct OperationCall {
    std::uint64_t call = 0;
    OriginId origin = kNoOrigin;
  };
  OperationCall latest_operation;
  std::vector<Tensor> captured;  // concrete tensors the function used, inputs after the given ones
};

// The trace that records this thread's operations; null if they run eagerly.
Trace* current_trace();

class TraceScope {
 public:
  explicit TraceScope(Trace* trace);
  ~TraceScope();
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

 private:
  Trace* previous_;
};

// Runs the function on traced arguments like `examples`; its results become the graph's outputs.
// `device` is the device of the tensors; null if it is not known yet.
std::shared_ptr<Trace> trace_function(const CompiledFunction::Body& function,
                                      const Arguments& examples,
                                      std::shared_ptr<Device> device = nullptr);
std::shared_ptr<Trace> trace_function(const CompiledFunction::Traced& function,
                                      std::span<const Tensor> examples,
                                      std::shared_ptr<Device> device = nullptr);

}  // namespace sinter
