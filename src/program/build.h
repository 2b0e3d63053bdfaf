// Graph -> Executable: simplify, plan, lower, compile, and the texts of every stage on the way.
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

// The stages that need no device: its kernels as tile programs, for a machine with workers.
struct PlannedKernels {
  Plan plan;
  ById<GroupId, Kernel> kernels;
  ById<GroupId, ConfigOrigin> origins;  // of their configs
};

// An input whose memory is that of a result.
struct InPlace {
  std::size_t input = 0;
  std::size_t output = 0;
};

// How results should lie in the caller's memory. A result that cannot lie there lies as it would
// otherwise: see Executable::outputs.
struct OutputLayout {
  std::vector<View> views;        // by output; empty: it does not matter
  std::vector<InPlace> in_place;  // see Program::runs_in_place
};

struct BuildOptions {
  bool fuse = true;
  bool launch_graph = false;   // where the device has them
  bool deterministic = false;  // tuning may not change bits
  bool use_tuning = true;      // false: the heuristic's configs
  bool emulate_eager_rounding = false;
  OutputLayout outputs = {};

  // Whether operations give the bits they give alone: what is not fused runs alone anyway.
  bool separate_ops() const { return emulate_eager_rounding || !fuse; }
};

// `configs`: how groups are shaped; by the heuristic if it is empty.
PlannedKernels plan_kernels(const Graph& graph, const BuildOptions& options, const Machine& machine,
                            int workers, const ConfigSource& configs = nullptr);
// The graph that is planned; `observe` sees it after each pass.
Graph simplified(const Graph& traced, const BuildOptions& options,
                 const ObservePass& observe = nullptr);

// A number that a kernel takes: an entry of the plan's graph, in the dtype the kernel computes in.
struct ProgramNumber {
  NumberId number = kNoNumber;
  DType dtype = DType::f32;
};

// Everything about a program for one signature but its memory.
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
  // Whether every input of options.outputs.in_place may have the memory of its result. If not, the
  // program has no executable.
  bool runs_in_place = true;
};

// `input_extents`: how many elements may be touched from each input's first on.
std::shared_ptr<const Program> build_program(Graph graph,
                                             std::span<const std::int64_t> input_extents,
                                             const BuildOptions& options,
                                             const std::shared_ptr<Device>& device);

// The scalars for Executable::numbers in a call with these numbers, which are converted as
// constants are. UserError for a number that does not fit. Allocates only to grow `scalars`.
void number_scalars(const Program& program, std::span<const Scalar> arguments,
                    std::vector<std::int64_t>& scalars);
// Whether the program is for calls with these numbers.
bool is_for(const Program& program, std::span<const Scalar> arguments);

std::string explain_text(const Program& program, const std::string& name);
PlanInfo plan_info(const Program& program);
ProgramInfo program_info(const Program& program);  // with the predicted time
std::string stage_text(const Program& program, std::string_view stage);

// How long one of the CPU's workers takes for a group, in nanoseconds, about.
double estimate_nanoseconds(const FusionGroup& group);

}  // namespace sinter
