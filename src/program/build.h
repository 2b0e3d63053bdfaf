// Graph -> Executable: simplify, plan, lower, compile; and the text of every stage.
#pragma once

#include <sinter/compile.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/fuse/plan.h"
#include "src/graph/simplify.h"
#include "src/lower/family.h"
#include "src/runtime/executor.h"
#include "src/tune/tuned_configs.h"

namespace sinter {

// Result of the stages that need no device: the plan, and its kernels as tile programs.
struct PlannedKernels {
  Plan plan;
  ById<GroupId, Kernel> kernels;
  ById<GroupId, ConfigOrigin> origins;  // of their configs
};

// An input that shares its memory with a result.
struct InPlace {
  std::size_t input = 0;
  std::size_t output = 0;
};

// Requested layout of results in the caller's memory. A result that cannot have it gets its default
// layout: see Executable::outputs.
struct OutputLayout {
  std::vector<View> views;        // by output; empty: any layout
  std::vector<InPlace> in_place;  // see Program::runs_in_place
};

struct BuildOptions {
  bool fuse = true;
  bool launch_graph = false;   // if the device supports them
  bool deterministic = false;  // tuning may not change bits
  bool use_tuning = true;      // false: the heuristic's configs
  bool emulate_eager_rounding = false;
  bool batch_invariant = false;  // a row's bits do not depend on other rows
  OutputLayout outputs = {};

  // Whether every operation must give the same bits as in a kernel of its own.
  bool separate_ops() const { return emulate_eager_rounding || !fuse; }
};

// `configs` chooses the configs of groups; empty: the heuristic.
PlannedKernels plan_kernels(const Graph& graph, const BuildOptions& options, const Machine& machine,
                            int workers, const ConfigSource& configs = nullptr);
// The graph to plan; `observe` is called with it after each pass.
Graph simplified(const Graph& traced, const BuildOptions& options,
                 const ObservePass& observe = nullptr);

// A number passed to a kernel: an entry of the plan's graph, in the dtype the kernel computes in.
struct ProgramNumber {
  NumberId number = kNoNumber;
  DType dtype = DType::f32;
};

// A program for one signature, without its memory.
struct Program {
  Graph traced;
  Plan plan;
  ById<GroupId, Kernel> kernels;
  ById<GroupId, ConfigOrigin> origins;  // of their configs
  Executable executable;
  std::vector<ProgramNumber> numbers;  // by executable.numbers
  ProgramInfo info;
  BuildOptions options;
  Machine machine;  // the device's, with the libraries that the program may call
  // Whether every input of options.outputs.in_place may share memory with its result. If not, the
  // program has no executable.
  bool runs_in_place = true;
};

// `input_extents`: accessible elements of each input, from its first element on.
std::shared_ptr<const Program> build_program(Graph graph,
                                             std::span<const std::int64_t> input_extents,
                                             const BuildOptions& options,
                                             const std::shared_ptr<Device>& device);

// The scalars for Executable::numbers in a call with these numbers, converted like constants.
// UserError for a number that does not fit. Allocates only to grow `scalars`.
void number_scalars(const Program& program, std::span<const Scalar> arguments,
                    std::vector<std::int64_t>& scalars);
// Whether the program is valid for calls with these numbers (see guards in docs/ARCHITECTURE.md).
bool is_for(const Program& program, std::span<const Scalar> arguments);

std::string explain_text(const Program& program, const std::string& name);
PlanInfo plan_info(const Program& program);
ProgramInfo program_info(const Program& program);  // with the predicted time
std::string stage_text(const Program& program, std::string_view stage);

// Approximate time of a group on one CPU worker, in nanoseconds.
double estimate_nanoseconds(const FusionGroup& group);

}  // namespace sinter
