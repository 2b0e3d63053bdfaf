// Records operations into a trace's graph.
#include "src/api/trace.h"

#include "src/base/check.h"

namespace sinter {
namespace {

thread_local Trace* t_current = nullptr;

}  // namespace

Trace* current_trace() { return t_current; }

TraceScope::TraceScope(Trace* trace) : previous_(t_current) { t_current = trace; }
TraceScope::~TraceScope() { t_current = previous_; }

Tensor Trace::add_input(const Tensor& example) {
  const TensorImpl& impl = *example.impl();
  // Calls bind the first element, so the input's own view starts there.
  View view = impl.view;
  view.offset = 0;
  return traced({build.input(impl.dtype, view.shape).node, view});
}

Tensor Trace::traced(const Operand& operand) {
  return make_traced(graph.dtype(operand), operand.view, weak_from_this(), operand.node);
}

Number Trace::add_number(const Number& example) {
  return traced(example.kind(), graph.numbers.argument(example.kind(), scalar_of(example)));
}

Number Trace::traced(NumberKind kind, NumberId id) {
  return Number(kind, std::make_shared<TracedNumber>(weak_from_this(), id));
}

NumberId Trace::number(const Number& number) {
  if (!number.is_traced()) return graph.numbers.value(scalar_of(number));
  if (number.traced()->trace().get() != this)
    fail_user("compile", "a number made while tracing one function was used outside of it");
  return number.traced()->id();
}

Number Trace::specialized(const Number& given) {
  if (!given.is_traced()) return given;
  return number_of(given.kind(), graph.numbers.specialized(number(given)));
}

Operand Trace::operand(const Tensor& tensor) {
  const TensorImpl& impl = *tensor.impl();
  if (impl.is_traced()) {
    if (impl.trace.lock().get() != this)
      fail_user(
          "compile",
          "a tensor made while tracing one function was used outside of it; return it from the "
          "function instead");
    return build.unpadded({impl.node, impl.view});
  }
  for (std::size_t i = 0; i < captured.size(); ++i)
    if (captured[i].impl() == &impl) {
      View view = impl.view;
      view.offset = 0;
      return {graph.inputs[graph.inputs.size() - captured.size() + i], view};
    }
  if (device && device != impl.device)
    fail_user("compile",
              "a tensor that the function uses is on {}, its inputs are on {}; move one with to()",
              impl.device->name(), device->name());
  device = impl.device;
  captured.push_back(tensor);
  const Tensor input = add_input(tensor);
  return {input.impl()->node, input.impl()->view};
}

std::shared_ptr<Trace> trace_function(const CompiledFunction::Body& function,
                                      const Arguments& examples, std::shared_ptr<Device> device) {
  auto trace = std::make_shared<Trace>();
  trace->device = std::move(device);
  std::vector<Tensor> traced;
  for (const Tensor& example : examples.tensors()) traced.push_back(trace->add_input(example));
  std::vector<Number> numbers;
  for (const Number& example : examples.numbers()) numbers.push_back(trace->add_number(example));
  std::vector<Tensor> results;
  {
    const TraceScope scope(trace.get());
    results = function({traced, numbers});
  }
  if (results.empty()) fail_user("compile", "the function returns no tensor");
  for (const Tensor& result : results) {
    checked("compile", result);
    trace->graph.outputs.push_back(trace->operand(result));
  }
  return trace;
}

std::shared_ptr<Trace> trace_function(const CompiledFunction::Traced& function,
                                      std::span<const Tensor> examples,
                                      std::shared_ptr<Device> device) {
  return trace_function([&](const Arguments& arguments) { return function(arguments.tensors()); },
                        Arguments(examples), std::move(device));
}

}  // namespace sinter
