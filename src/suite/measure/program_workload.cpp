// A user's program, checked against its graph in f64: docs/MEASURING.md states the tolerance.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "src/api/devices.h"
#include "src/api/tensor_impl.h"
#include "src/cpu/cpu_info.h"
#include "src/suite/cases/program_inputs.h"
#include "src/suite/cases/program_sizes.h"
#include "src/suite/measure/bounded_accuracy.h"
#include "src/suite/measure/program_facts.h"
#include "src/suite/measure/workload.h"
#include "src/suite/reference/graph_reference.h"

namespace sinter::suite {
namespace {

// Elements computed for a check: about a second on one thread.
constexpr std::int64_t kWork = std::int64_t{1} << 23;
// If a single element takes more, e.g. the sum of a whole tensor, up to this many.
constexpr std::int64_t kMostWork = std::int64_t{1} << 27;
constexpr std::size_t kShareOfMemory = 4;  // uses a quarter of the host's free memory

std::int64_t most_work() {
  const std::size_t fitting = system_memory().available / kShareOfMemory / sizeof(bounded::Bounded);
  return std::min(kMostWork, static_cast<std::int64_t>(fitting));
}

bool has_16_bit_values(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
    return is_floating(node.dtype) && size_of(node.dtype) == 2;
  });
}

bounded::Kernels kernels_of(const Device& device) {
  return device.machine().kind == MachineKind::gpu ? bounded::Kernels::gpu : bounded::Kernels::host;
}

class ProgramWorkload : public Workload {
 public:
  ProgramWorkload(std::shared_ptr<const ProgramFile> file, SizeValues sizes, ParsedProgram program)
      : Workload(program_facts(program, file->path())),
        file_(std::move(file)),
        sizes_(std::move(sizes)),
        program_(std::move(program)),
        specs_(input_specs(program_.graph)) {}

  PeerProgram for_peers() const override {
    const std::string script = script_beside(file_->path());
    PeerProgram program{"", "", specs_, output_specs(program_.graph)};
    if (std::error_code ignored; std::filesystem::is_regular_file(script, ignored))
      program.script = std::filesystem::absolute(script).string();
    else
      program.missing = fmt::format(
          "there is no {}: add it, with a function program(*inputs) that computes the same",
          script);
    return program;
  }

  CompiledFunction compiled(const std::string& provider) const override {
    return compile_list(
        [file = file_, sizes = sizes_](std::span<const Tensor> inputs) {
          return file->trace_example(inputs, sizes);
        },
        static_cast<int>(specs_.size()), options_of(provider, facts().case_name));
  }

  std::vector<Tensor> make_inputs(const std::shared_ptr<Device>& device,
                                  ThreadPool&) const override {
    return random_inputs(specs_, device);
  }

  // Inputs are generated on the host as f32 and converted, and generated again for the check.
  std::int64_t host_bytes(const Device&) const override {
    std::int64_t largest = 0;
    for (const TensorSpec& spec : specs_) largest = std::max(largest, spec.shape.numel());
    return facts().input_bytes + facts().output_bytes +
           largest * static_cast<std::int64_t>(sizeof(float));
  }

  std::vector<Checked> check(std::span<const Tensor> inputs,
                             std::span<const ProviderOutputs> results,
                             ThreadPool& threads) const override {
    std::optional<Sample> sample = choose_sample(program_.graph, kWork);
    const std::int64_t most = most_work();
    if (!sample) sample = choose_sample(program_.graph, most);
    if (!sample) return std::vector<Checked>(results.size(), unchecked(most));
    const std::vector<Tensor> on_host = host_inputs(inputs);
    const Device& device = *results.front().outputs.front().impl()->device;
    std::map<Roundings, std::vector<std::vector<bounded::Bounded>>> expected;
    std::vector<Checked> all_checked;
    for (const ProviderOutputs& result : results) {
      // A single kernel rounds 16-bit values only when it stores them.
      const bool goes_through_memory = result.kernels > 1 && has_16_bit_values(program_.graph);
      const Roundings roundings = goes_through_memory ? Roundings::each_value : Roundings::outputs;
      if (!expected.contains(roundings))
        expected[roundings] = evaluate_graph(program_.graph, *sample, on_host,
                                             {kernels_of(device), roundings}, threads);
      all_checked.push_back(check_bounded(result.outputs, *sample, expected[roundings]));
    }
    return all_checked;
  }

 private:
  // Generated again for a device with its own memory, which also detects kernels that write to
  // their inputs.
  std::vector<Tensor> host_inputs(std::span<const Tensor> inputs) const {
    const bool is_shared = std::all_of(inputs.begin(), inputs.end(), [](const Tensor& tensor) {
      return tensor.impl()->device->shares_host_memory();
    });
    if (is_shared) return {inputs.begin(), inputs.end()};
    return random_inputs(specs_, open_device("cpu"));
  }

  static Checked unchecked(std::int64_t most) {
    Checked checked;
    for (const char* field : {"max_abs_err", "max_rel_err", "tolerance", "checked_elements"})
      checked.reasons[field] =
          fmt::format("checking a single element would take more than {} operations in f64", most);
    return checked;
  }

  std::shared_ptr<const ProgramFile> file_;
  SizeValues sizes_;
  ParsedProgram program_;
  std::vector<TensorSpec> specs_;
};

}  // namespace

WorkloadPtr program_workload(std::shared_ptr<const ProgramFile> file, const std::string& sizes) {
  SizeValues values;
  if (!sizes.empty()) values = parse_sizes(sizes, file->program(), file->path(), "suite");
  ParsedProgram program = file->with_sizes(values);
  return std::make_shared<ProgramWorkload>(std::move(file), std::move(values), std::move(program));
}

}  // namespace sinter::suite
