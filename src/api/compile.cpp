// CompiledFunction: traces at the first call with a signature, then looks up and runs.
#include <sinter/compile.h>
#include <sinter/scope.h>
#include <sinter/tune.h>

#include "src/api/call_into.h"
#include "src/api/devices.h"
#include "src/api/program_cache.h"
#include "src/api/trace.h"
#include "src/api/trace_error.h"
#include "src/api/tune.h"
#include "src/base/atomic_file.h"
#include "src/base/check.h"
#include "src/program/build.h"
#include "src/runtime/under_way.h"

namespace sinter {
namespace {

constexpr std::size_t kMostPrograms = 4096;

}  // namespace

struct CompiledFunction::State {
  State(Body f, Arity counts, CompileOptions o)
      : function(std::move(f)), arity(counts), options(std::move(o)), programs(kMostPrograms) {}

  std::shared_ptr<const TracedProgram> program_for(const Arguments& inputs) {
    const std::shared_ptr<Device> device = device_of(inputs);
    // Without inputs the device is only known after tracing; use the default one as the key.
    const std::shared_ptr<Device> key = device ? device : default_device_handle();
    return programs.find_or_build({}, inputs, *key, [&] { return trace(inputs, device, true); });
  }

  // A program whose kernels write to these outputs where possible. Its key differs from those of
  // program_for() and of calls with other outputs: the first word is their number.
  std::shared_ptr<const TracedProgram> program_into(const GivenOutputs& outputs,
                                                    const Arguments& inputs) {
    const std::shared_ptr<Device> device = device_of(inputs);
    const std::shared_ptr<Device> key = device ? device : default_device_handle();
    return programs.find_or_build(outputs.key(), inputs, *key,
                                  [&] { return trace(inputs, device, true, &outputs); });
  }

  void call_into(const GivenOutputs& outputs, const Arguments& inputs) {
    std::shared_ptr<const TracedProgram> program;
    if (!outputs.overlap_inputs() && !outputs.are_plain()) {
      program = program_into(outputs, inputs);
      if (!program->program->runs_in_place) program = nullptr;
    }
    const bool is_apart = outputs.overlap_inputs() || (!program && !outputs.are_plain());
    if (!program) program = program_for(inputs);
    outputs.check(program->program->executable);
    if (is_apart || overlap_captured(*program, outputs))
      return run_traced_apart(*program, outputs, inputs);
    // Results that are not row-major or not in separate buffers need a program that places them.
    if (outputs.are_plain() && !writes_directly(*program, outputs))
      program = program_into(outputs, inputs);
    run_traced_into(*program, outputs, inputs);
  }

  TuneReport tune(const Arguments& inputs, const TuneOptions& how) {
    const std::shared_ptr<Device> device = device_of(inputs);
    check_tunable(device ? *device : *default_device_handle());
    TuningStore& store = environment_tuning();
    store.check_writable();
    TuneReport report = tune_program(*trace(inputs, device, false), inputs, how, store);
    programs.clear();  // others may use the tuned kernels, too
    (void)program_for(inputs);
    return report;
  }

  // Null if there are no inputs.
  std::shared_ptr<Device> device_of(const Arguments& inputs) const {
    check_inputs(inputs);
    for (const Tensor& input : inputs.tensors())
      if (input.impl()->is_traced())
        fail_user("compile", "a traced tensor was passed to a compiled function outside its trace");
    for (const Number& number : inputs.numbers())
      if (number.is_traced())
        fail_user("compile", "a traced number was passed to a compiled function outside its trace");
    return common_device("compile", inputs.tensors());
  }

  void check_inputs(const Arguments& inputs) const {
    const std::span<const Tensor> tensors = inputs.tensors();
    if (static_cast<int>(tensors.size()) != arity.tensors)
      fail_user("compile", "the function takes {} tensors, got {}", arity.tensors, tensors.size());
    if (static_cast<int>(inputs.numbers().size()) != arity.numbers)
      fail_user("compile", "the function takes {} numbers, got {}", arity.numbers,
                inputs.numbers().size());
    for (std::size_t i = 0; i < tensors.size(); ++i)
      if (!tensors[i].defined())
        fail_user("compile", "input {} is undefined (a default-constructed Tensor)", i);
  }

  // The function may have state, so it runs on one thread at a time. Its errors name the function.
  template <typename F>
  auto run_function(const Arguments& inputs, F&& run) {
    const OneAtATime::Turn turn(tracing);
    try {
      return run();
    } catch (const UserError& error) {
      rethrow_naming(error, options.name, inputs.tensors());
    }
  }

  std::shared_ptr<const TracedProgram> trace(const Arguments& inputs,
                                             std::shared_ptr<Device> device, bool use_tuning,
                                             const GivenOutputs* outputs = nullptr) {
    const std::shared_ptr<Trace> record =
        run_function(inputs, [&] { return trace_function(function, inputs, std::move(device)); });
    BuildOptions build{options.fuse,
                       options.cuda_graph,
                       options.deterministic || options.batch_invariant,
                       use_tuning,
                       options.emulate_eager_rounding,
                       options.batch_invariant};
    if (outputs) {
      outputs->check(record->graph);
      build.outputs = outputs->layout();
    }
    return build_traced(*record, inputs.tensors(), build);
  }

  // The graph that save() writes: inputs are dense, whatever the strides of the given tensors.
  Graph dense_graph(const Arguments& inputs) {
    std::shared_ptr<Device> device = device_of(inputs);
    std::vector<Tensor> dense;
    for (const Tensor& input : inputs.tensors())
      dense.push_back(make_tensor(input.dtype(), dense_view(input.shape()), nullptr, device));
    const std::shared_ptr<Trace> record = run_function(inputs, [&] {
      return trace_function(function, {dense, inputs.numbers()}, std::move(device));
    });
    if (!record->captured.empty())
      fail_user("save", "the function uses a tensor of shape {} that is not one of its inputs",
                to_string(record->captured[0].shape()));
    return std::move(record->graph);
  }

  Body function;
  Arity arity;
  CompileOptions options;
  ProgramCache programs;
  OneAtATime tracing;
};

CompiledFunction::CompiledFunction(Body function, Arity arity, CompileOptions options)
    : state_(std::make_shared<State>(std::move(function), arity, std::move(options))) {}

CompiledFunction::CompiledFunction(Traced function, int arity, CompileOptions options)
    : CompiledFunction(
          [f = std::move(function)](const Arguments& inputs) { return f(inputs.tensors()); },
          Arity{arity, 0}, std::move(options)) {}

int CompiledFunction::arity() const { return state_->arity.tensors; }
int CompiledFunction::number_arity() const { return state_->arity.numbers; }

std::vector<Tensor> CompiledFunction::call(const Arguments& inputs) const {
  State& state = *state_;
  // Inside another function's trace, the call is inlined.
  if (current_trace()) {
    state.check_inputs(inputs);
    std::optional<NameScope> scope;
    if (!state.options.name.empty()) scope.emplace(state.options.name);
    return state.run_function(inputs, [&] { return state.function(inputs); });
  }
  const auto program = state.program_for(inputs);
  return run_traced(*program, inputs);
}

void CompiledFunction::call_into(std::span<const Tensor> outputs, const Arguments& inputs) const {
  if (current_trace())
    fail_user("call_into",
              "cannot be traced: inside a compiled function, call the function and return its "
              "result");
  const std::shared_ptr<Device> device = state_->device_of(inputs);  // checks the inputs
  const GivenOutputs given(outputs, inputs.tensors());
  if (device) given.check(*device);
  state_->call_into(given, inputs);
}

std::string CompiledFunction::explain() const {
  const auto program = state_->programs.latest();
  if (!program) return "not compiled yet: call the function, or give explain() its inputs\n";
  return explain_text(*program->program, state_->options.name);
}

std::string CompiledFunction::explain(const Arguments& inputs) const {
  return explain_text(*state_->program_for(inputs)->program, state_->options.name);
}

ProgramInfo CompiledFunction::info(const Arguments& inputs) const {
  return program_info(*state_->program_for(inputs)->program);
}

PlanInfo CompiledFunction::plan(const Arguments& inputs) const {
  return plan_info(*state_->program_for(inputs)->program);
}

TuneReport tune(const CompiledFunction& function, const Arguments& inputs,
                const TuneOptions& options) {
  return function.state_->tune(inputs, options);
}

std::string CompiledFunction::dump(std::string_view stage, const Arguments& inputs) const {
  return stage_text(*state_->program_for(inputs)->program, stage);
}

void CompiledFunction::save(const std::string& path, const Arguments& inputs) const {
  write_file_atomically("save", path, to_string(state_->dense_graph(inputs)));
}

}  // namespace sinter
