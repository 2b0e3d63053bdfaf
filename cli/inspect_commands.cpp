// `sinter explain` and `sinter dump`: show how a case or a program file becomes kernels. Both
// compile without running, so any shape can be inspected.
#include <fmt/format.h>
#include <sinter/compile.h>

#include <memory>

#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/kernel_text.h"
#include "cli/subject.h"
#include "src/api/devices.h"
#include "src/api/trace.h"
#include "src/base/check.h"
#include "src/program/offline_cuda.h"
#include "src/suite/results/plan_json.h"

namespace sinter::cli {
namespace {

constexpr char kDefaultArchitecture[] = "sm_90a";

struct InspectArguments {
  SubjectArguments subject;
  std::string device = "cpu";
  std::string architecture;
  std::string stage;
  bool full = false;
  bool json = false;
  bool eager = false;
  bool batch_invariant = false;
};

struct Inspected {
  CompiledFunction function;
  std::vector<Tensor> inputs;
};

Inspected compile_subject(const InspectArguments& arguments, const Subject& subject) {
  const std::string formula = subject.formula.empty() ? "" : ": " + subject.formula;
  return {compile_list(subject.function, subject.arity,
                       {.fuse = !arguments.eager,
                        .name = subject.title() + formula,
                        .batch_invariant = arguments.batch_invariant}),
          subject.unbacked_inputs(open_device(arguments.device))};
}

bool is_on_cuda(const InspectArguments& arguments) { return arguments.device.starts_with("cuda"); }

// For a GPU that need not be present.
std::string dump_cuda(const InspectArguments& arguments) {
  const CudaArchitecture& architecture = find_cuda_architecture(
      arguments.architecture.empty() ? kDefaultArchitecture : arguments.architecture);
  const Subject subject = find_subject(arguments.subject);
  const std::shared_ptr<Trace> trace =
      trace_function(subject.function, subject.unbacked_inputs(open_device("cpu")));
  const Program program = plan_for_cuda(
      trace->graph, {.fuse = !arguments.eager, .batch_invariant = arguments.batch_invariant},
      architecture);
  const bool is_kernels =
      arguments.stage == "source" || arguments.stage == "ptx" || arguments.stage == "sass";
  return is_kernels ? cuda_stage_text(program, arguments.stage, architecture)
                    : stage_text(program, arguments.stage);
}

void add_common_options(CLI::App& command, InspectArguments& arguments) {
  arguments.subject.command = command.get_name();
  command
      .add_option("case", arguments.subject.name,
                  "A case of the suite (sinter suite --list), or a program file (my.sinter)")
      ->required();
  command.add_option("--shape,--shapes", arguments.subject.shape,
                     "ROWSxCOLS, one, default: 4096x4096; of a program, its sizes in order");
  command.add_option("--dtype", arguments.subject.dtype, "f32, f16, bf16, f64; default: f32");
  command.add_option("--device", arguments.device, "The target device")->capture_default_str();
  command.add_flag("--eager", arguments.eager, "Without fusion: one kernel per operation");
  command.add_flag("--batch-invariant", arguments.batch_invariant,
                   "A row's bits do not depend on the rows beside it");
}

// The plan as in results.json, and how each kernel's config was chosen.
Json plan_json(const PlanInfo& plan) {
  Json json = suite::plan_to_json(plan);
  for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
    Json& kernel = json["kernels"][k];
    kernel["config_origin"] = plan.kernels[k].config_origin;
    kernel["rules"] = rules_json(plan.kernels[k].rules);
  }
  return json;
}

// explain() as JSON: the case, the whole call, and its plan.
Json explained(const InspectArguments& arguments, const Subject& subject, const Inspected& it) {
  const ProgramInfo info = it.function.info(it.inputs);
  return {{"case", subject.name},
          {"formula", subject.formula},
          {"shape", subject.shape},
          {"dtype", subject.dtype},
          {"fused", !arguments.eager},
          {"batch_invariant", arguments.batch_invariant},
          {"program",
           {{"kernels", info.kernels},
            {"bytes", info.bytes},
            {"flops", info.flops},
            {"buffer_bytes", info.buffer_bytes},
            {"predicted_us", info.predicted_us},
            {"compile_ms", info.compile_ms},
            {"kernel_compile_ms", info.kernel_compile_ms},
            {"kernels_from_disk", info.kernels_from_disk}}},
          {"plan", plan_json(it.function.plan(it.inputs))}};
}

int explain(const InspectArguments& arguments) {
  const Subject subject = find_subject(arguments.subject);
  const Inspected it = compile_subject(arguments, subject);
  if (arguments.json) {
    print_json(explained(arguments, subject, it));
    return kOk;
  }
  fmt::print("{}", it.function.explain(it.inputs));
  return kOk;
}

std::string dump_here(const InspectArguments& arguments) {
  if (arguments.stage == "ptx" || arguments.stage == "sass" || !arguments.architecture.empty())
    fail_user(arguments.subject.command, "stages ptx and sass, and --arch, go with --device cuda");
  const Inspected it = compile_subject(arguments, find_subject(arguments.subject));
  return it.function.dump(arguments.stage, it.inputs);
}

int dump(const InspectArguments& arguments) {
  const std::string text = is_on_cuda(arguments) ? dump_cuda(arguments) : dump_here(arguments);
  const bool shorten = arguments.stage == "source" && !arguments.full;
  fmt::print("{}", shorten ? without_headers(text) : text);
  return kOk;
}

}  // namespace

void add_explain_command(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<InspectArguments>();
  CLI::App* command =
      app.add_subcommand("explain", "Show a case's kernels, their traffic, and what is not fused");
  add_common_options(*command, *arguments);
  command->add_flag("--json", arguments->json, "Print the same and more as JSON");
  command->footer("Example:\n  sinter explain softmax --shape 65536x1024 --dtype bf16");
  command->callback(
      [arguments, &invocation] { invocation.run = [arguments] { return explain(*arguments); }; });
}

void add_dump_command(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<InspectArguments>();
  CLI::App* command = app.add_subcommand("dump", "Print a case at one stage of the pipeline");
  add_common_options(*command, *arguments);
  command
      ->add_option(
          "--stage", arguments->stage,
          "graph, passes, simplified, plan, kernels, tile, source or launches; for cuda also "
          "ptx or sass")
      ->required();
  command->add_option("--arch", arguments->architecture,
                      "With --device cuda: sm_80, sm_90a or sm_100; default: sm_90a");
  command->add_flag("--full", arguments->full, "Stage source: include the kernel headers");
  command->footer(
      "Example:\n  sinter dump softmax --stage source --shape 128x4096\n"
      "  sinter dump softmax --stage ptx --device cuda --arch sm_90a");
  command->callback(
      [arguments, &invocation] { invocation.run = [arguments] { return dump(*arguments); }; });
}

}  // namespace sinter::cli
