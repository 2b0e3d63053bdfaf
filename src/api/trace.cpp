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

Operand Trace::operand(const Tensor& tensor) {
  const TensorImpl& impl = *tensor.impl();
  if (impl.is_traced()) {
    if (impl.trace.lock().get() != this)
      fail_user(
          "compile",
          "a tensor made while tracing one function was used outside of it; return it from the "
          "function instead");
    return {impl.node, impl.view};
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

std::shared_ptr<Trace> trace_function(const TraceableFunction& function,
                                      std::span<const Tensor> examples,
                                      std::shared_ptr<Device> device) {
  auto trace = std::make_shared<Trace>();
  trace->device = std::move(device);
  std::vector<Tensor> traced;
  for (const Tensor& example : examples) traced.push_back(trace->add_input(example));
  std::vector<Tensor> results;
  {
    const TraceScope scope(trace.get());
    results = function(traced);
  }
  if (results.empty()) fail_user("compile", "the function returns no tensor");
  for (const Tensor& result : results) {
    checked("compile", result);
    trace->graph.outputs.push_back(trace->operand(result));
  }
  return trace;
}

}  // namespace sinter
