// `sinter explain` and `sinter dump`: show how a case becomes kernels. Both compile without
// running, so any shape can be inspected.
#include <fmt/format.h>
#include <sinter/compile.h>

#include <memory>

#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/kernel_text.h"
#include "src/api/devices.h"
#include "src/api/trace.h"
#include "src/base/check.h"
#include "src/program/offline_cuda.h"
#include "src/suite/cases/case.h"
#include "src/suite/cases/inputs.h"
#include "src/suite/results/plan_json.h"

namespace sinter::cli {
namespace {

constexpr char kDefaultArchitecture[] = "sm_90a";

struct InspectArguments {
  std::string command;  // tags errors
  std::string name;
  std::string shape = "4096x4096";
  std::string dtype = "f32";
  std::string device = "cpu";
  std::string architecture;
  std::string stage;
  bool full = false;
  bool json = false;
  bool eager = false;
};

struct Inspected {
  CompiledFunction function;
  std::vector<Tensor> inputs;
};

const suite::Case& case_of(const InspectArguments& arguments) {
  return suite::find_case(arguments.name, arguments.command);
}

suite::Shape2 shape_of(const InspectArguments& arguments) {
  return suite::parse_shape(arguments.shape, arguments.command);
}

DType dtype_of(const InspectArguments& arguments) {
  return suite::parse_dtype(arguments.dtype, arguments.command);
}

std::vector<Tensor> inputs_on(const InspectArguments& arguments, const std::string& device) {
  return suite::unbacked_inputs(case_of(arguments), shape_of(arguments), dtype_of(arguments),
                                open_device(device));
}

Inspected compile_case(const InspectArguments& arguments) {
  const suite::Case& each = case_of(arguments);
  const std::string title =
      fmt::format("{} {} {}: {}", each.name, suite::to_string(shape_of(arguments)),
                  name_of(dtype_of(arguments)), each.formula);
  return {compile_list(each.program, static_cast<int>(each.inputs.size()),
                       {.fuse = !arguments.eager, .name = title}),
          inputs_on(arguments, arguments.device)};
}

bool is_on_cuda(const InspectArguments& arguments) { return arguments.device.starts_with("cuda"); }

// For a GPU that need not be present.
std::string dump_cuda(const InspectArguments& arguments) {
  const CudaArchitecture& architecture = find_cuda_architecture(
      arguments.architecture.empty() ? kDefaultArchitecture : arguments.architecture);
  const std::shared_ptr<Trace> trace =
      trace_function(case_of(arguments).program, inputs_on(arguments, "cpu"));
  const Program program = plan_for_cuda(trace->graph, !arguments.eager, architecture);
  const bool is_kernels =
      arguments.stage == "source" || arguments.stage == "ptx" || arguments.stage == "sass";
  return is_kernels ? cuda_stage_text(program, arguments.stage, architecture)
                    : stage_text(program, arguments.stage);
}

void add_common_options(CLI::App& command, InspectArguments& arguments) {
  arguments.command = command.get_name();
  command.add_option("case", arguments.name, "A case of the suite (sinter suite --list)")
      ->required();
  command.add_option("--shape,--shapes", arguments.shape, "ROWSxCOLS, one")->capture_default_str();
  command.add_option("--dtype", arguments.dtype, "f32, f16, bf16, f64")->capture_default_str();
  command.add_option("--device", arguments.device, "The target device")->capture_default_str();
  command.add_flag("--eager", arguments.eager, "Without fusion: one kernel per operation");
}

// explain() as JSON: the case, the whole call, and the plan as in results.json.
Json explained(const InspectArguments& arguments, const Inspected& it) {
  const ProgramInfo info = it.function.info(it.inputs);
  return {{"case", arguments.name},
          {"formula", case_of(arguments).formula},
          {"shape", to_string(shape_of(arguments))},
          {"dtype", arguments.dtype},
          {"fused", !arguments.eager},
          {"program",
           {{"kernels", info.kernels},
            {"bytes", info.bytes},
            {"flops", info.flops},
            {"buffer_bytes", info.buffer_bytes},
            {"predicted_us", info.predicted_us},
            {"compile_ms", info.compile_ms},
            {"kernel_compile_ms", info.kernel_compile_ms},
            {"kernels_from_disk", info.kernels_from_disk}}},
          {"plan", suite::plan_to_json(it.function.plan(it.inputs))}};
}

int explain(const InspectArguments& arguments) {
  const Inspected it = compile_case(arguments);
  if (arguments.json) {
    print_json(explained(arguments, it));
    return kOk;
  }
  fmt::print("{}", it.function.explain(it.inputs));
  return kOk;
}

std::string dump_here(const InspectArguments& arguments) {
  if (arguments.stage == "ptx" || arguments.stage == "sass" || !arguments.architecture.empty())
    fail_user(arguments.command, "stages ptx and sass, and --arch, go with --device cuda");
  const Inspected it = compile_case(arguments);
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
  command->footer("Example:\n  sinter explain layernorm --shape 65536x1024 --dtype bf16");
  command->callback(
      [arguments, &invocation] { invocation.run = [arguments] { return explain(*arguments); }; });
}

void add_dump_command(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<InspectArguments>();
  CLI::App* command = app.add_subcommand("dump", "Print a case at one stage of the pipeline");
  add_common_options(*command, *arguments);
  command
      ->add_option("--stage", arguments->stage,
                   "graph, passes, simplified, plan, tile or source; for cuda also ptx or sass")
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
