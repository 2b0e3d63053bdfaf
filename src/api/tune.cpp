// Each kernel is tuned after those before it have run, so that its inputs exist and the parts of
// the arena it shares with others are not in use.
#include "src/api/tune.h"

#include <array>
#include <chrono>
#include <ctime>
#include <map>

#include "src/base/check.h"
#include "src/base/elapsed.h"
#include "src/tune/signature.h"
#include "src/tune/tuner.h"

namespace sinter {
namespace {

using Clock = std::chrono::steady_clock;

std::string utc_date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 16> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
  return text.data();
}

KernelTuning tuning_of(const TunedKernel& tuned) {
  KernelTuning tuning;
  tuning.name = tuned.name;
  tuning.config = to_string(tuned.config);
  tuning.heuristic = to_string(tuned.heuristic);
  for (const RuleText& rule : tuned.rules)
    tuning.rules.push_back({rule.part, rule.name, rule.reason});
  for (const Trial& trial : tuned.trials)
    tuning.trials.push_back({to_string(trial.config), trial.us});
  tuning.us = tuned.us;
  tuning.heuristic_us = tuned.heuristic_us;
  tuning.changed = tuned.changed();
  tuning.finished = tuned.finished;
  tuning.candidates = tuned.candidates;
  tuning.measured = tuned.measured;
  tuning.stopped = tuned.stopped;
  tuning.failed = tuned.failed;
  tuning.wrong = tuned.wrong;
  tuning.first_failure = tuned.first_failure;
  return tuning;
}

std::optional<TunedEntry> entry_of(const TunedKernel& tuned) {
  if (!tuned.changed()) return std::nullopt;
  return TunedEntry{
      choice_of(tuned.config),    tuned.us,   tuned.heuristic_us, to_string(tuned.config),
      to_string(tuned.heuristic), utc_date(), SINTER_VERSION};
}

class ProgramTuning {
 public:
  ProgramTuning(const TracedProgram& traced, const Arguments& inputs, const TuneOptions& options,
                TuningStore& store)
      : program_(*traced.program),
        device_(*program_.executable.device),
        options_(options),
        store_(store),
        memory_(take_memory(program_.executable)) {
    for (const Tensor& tensor : inputs.tensors()) inputs_.push_back(tensor);
    for (const Tensor& tensor : traced.captured) inputs_.push_back(tensor);
    bind_slots();
  }

  TuneReport run() {
    const auto count = static_cast<int>(program_.kernels.size());
    for (GroupId g = 0; g < count && !stopped_; ++g) tune_group(g, count);
    store_.put(changes_);
    report_.file = store_.path();
    report_.seconds = seconds_since(start_);
    return std::move(report_);
  }

 private:
  void bind_slots() {
    std::vector<InputBinding> bindings;
    for (const Tensor& input : inputs_) {
      input.impl()->storage->note_use();
      bindings.push_back({input.impl()->data()});
    }
    find_slots(program_.executable, bindings, memory_, bases_);
  }

  // A buffer of a candidate of group g. Candidates refer to the same nodes as the built kernel.
  tile::BufferBinding bind(GroupId g, const KernelBuffer& wanted) const {
    const Kernel& kernel = program_.kernels[g];
    const Launch& launch = program_.executable.launches[g];
    for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
      const KernelBuffer& known = kernel.buffers[i];
      if (known.node != wanted.node) continue;
      const auto element =
          static_cast<std::int64_t>(size_of(program_.plan.graph[wanted.node].dtype));
      const BoundBuffer& bound = launch.buffers[i];
      return {bases_[bound.slot] + wanted.offset * element,
              bound.elements + known.offset - wanted.offset};
    }
    SINTER_ASSERT(false, "group {} has no buffer of node {}", g, wanted.node);
    return {};
  }

  void tune_group(GroupId g, int count) {
    const Kernel& kernel = program_.kernels[g];
    if (kernel.grid <= 0) return;
    const TuningKey key{device_.model(),
                        group_signature(program_.plan, g, iteration_space(program_.plan, g)),
                        program_.options.deterministic};
    if (const auto before = tuned_.find(key); before != tuned_.end()) {
      launch(g);
      report_.kernels.push_back(report_.kernels[before->second]);
      report_.kernels.back().name = kernel.name();
      return;
    }
    TuneTarget target{program_.plan,
                      g,
                      program_.machine,
                      [this, g](const KernelBuffer& b) { return bind(g, b); },
                      {}};
    if (const auto known = store_.find(key)) target.known = known->choice;
    const TunedKernel tuned = tune_kernel(device_, target, tuner_options(g, count));
    tuned_[key] = report_.kernels.size();
    report_.kernels.push_back(tuning_of(tuned));
    // A tuning that was cut short does not invalidate the known entry.
    if (tuned.changed() || tuned.finished) changes_[key] = entry_of(tuned);
  }

  // A share of the remaining time: kernels that finish early leave theirs to the others.
  TunerOptions tuner_options(GroupId g, int count) {
    TunerOptions tuner;
    tuner.seconds = (options_.seconds - seconds_since(start_)) / (count - g);
    tuner.same_bits = program_.options.deterministic;
    tuner.progress = [this, g, count](const TuningProgress& at) {
      if (options_.progress &&
          !options_.progress({g, count, at.done, at.total, at.heuristic_us, at.best_us}))
        stopped_ = true;
      return !stopped_;
    };
    return tuner;
  }

  void launch(GroupId g) const {
    const Launch& launch = program_.executable.launches[g];
    std::vector<tile::BufferBinding> buffers;
    bind_buffers(launch, bases_, buffers);
    launch.kernel->launch(buffers, launch.scalars, launch.grid, launch.nanoseconds);
  }

  const Program& program_;
  Device& device_;
  const TuneOptions& options_;
  TuningStore& store_;
  std::vector<Tensor> inputs_;  // captured ones last
  RunMemory memory_;
  ById<SlotId, std::byte*> bases_;
  std::map<TuningKey, std::size_t> tuned_;  // index in the report
  TuningChanges changes_;
  TuneReport report_;
  bool stopped_ = false;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

void check_tunable(const Device& device) {
  if (device.name() == "simt")
    fail_user("tune",
              "simt runs GPU kernels on the CPU: its times say nothing of a GPU's; tune on cuda");
  if (device.machine().kind != MachineKind::gpu)
    fail_user("tune", "kernels on {} have one config each: tuning is for GPUs", device.name());
}

TuneReport tune_program(const TracedProgram& traced, const Arguments& inputs,
                        const TuneOptions& options, TuningStore& store) {
  if (!(options.seconds > 0)) fail_user("tune", "seconds is {}, not above 0", options.seconds);
  return ProgramTuning(traced, inputs, options, store).run();
}

}  // namespace sinter
