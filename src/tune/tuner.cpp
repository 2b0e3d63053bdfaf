// Renders all candidates and drops duplicates; then, batch by batch, compiles, checks and times
// them against the best so far; finally times the winner against the heuristic again.
#include "src/tune/tuner.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>

#include "src/base/check.h"
#include "src/base/hash.h"
#include "src/base/processors.h"
#include "src/runtime/compile_kernel.h"
#include "src/runtime/in_parallel.h"
#include "src/tune/contest.h"
#include "src/tune/result_check.h"

namespace sinter {
namespace {

constexpr int kRounds = 15;
constexpr int kFinalRounds = 31;
constexpr int kMostCompilers = 32;

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::size_t compile_threads(const TunerOptions& options) {
  return static_cast<std::size_t>(options.compile_threads > 0
                                      ? options.compile_threads
                                      : std::min(available_cpus(), kMostCompilers));
}

// A config being measured.
struct Candidate {
  Config config;
  Kernel kernel;
  Hash128 text;
  KernelPtr compiled;
  StoragePtr workspace;
  std::string error;  // why it cannot run
};

class KernelTuner {
 public:
  KernelTuner(Device& device, const TuneTarget& target, const TunerOptions& options)
      : device_(device),
        target_(target),
        options_(options),
        space_(iteration_space(target.plan, target.group)),
        threads_(compile_threads(options)),
        start_(now()) {}
  ~KernelTuner() {  // candidates compiled but not tried when the time ran out
    for (Candidate& each : candidates_) unload_if_lost(each);
  }
  KernelTuner(const KernelTuner&) = delete;
  KernelTuner& operator=(const KernelTuner&) = delete;

  TunedKernel run() {
    make_candidates();
    render();
    Candidate& heuristic = candidates_.front();
    if (!heuristic.error.empty())  // rethrow the stored error
      heuristic.kernel = lower(target_.plan, target_.group, space_, heuristic.config);
    compile(heuristic);
    result_.name = heuristic.kernel.name();
    result_.heuristic = result_.config = heuristic.config;
    result_.rules = best_offer(space_, target_.machine).rules;
    const auto heuristic_run = run_of(heuristic);
    const std::vector<WrittenBuffer> written = written_by(heuristic.kernel);
    ResultCheck check(device_, written, options_.same_bits);
    check.set_reference(heuristic_run);
    stopwatch_ = device_.stopwatch();
    std::vector<double> first;
    for (int i = 0; i < kRounds; ++i) first.push_back(stopwatch_->time(heuristic_run, 1));
    std::nth_element(first.begin(), first.begin() + kRounds / 2, first.end());
    result_.heuristic_us = result_.us = first[kRounds / 2];
    result_.measured = 1;
    result_.trials.push_back({heuristic.config, result_.us});
    try_all(check);
    confirm(heuristic);
    check.restore();
    run_of (*best_)();  // the next kernel reads this one's output
    device_.synchronize();
    return std::move(result_);
  }

 private:
  double now() const { return options_.now ? options_.now() : steady_seconds(); }
  bool is_over() const { return now() - start_ >= options_.seconds; }

  void make_candidates() {
    std::vector<Config> configs = candidate_configs(space_, target_.machine, options_.same_bits);
    if (target_.known)  // second, so that a short budget suffices to find it again
      if (const auto known = matching(*target_.known, configs); known) {
        const auto at = std::find(configs.begin(), configs.end(), *known);
        if (at != configs.begin()) std::rotate(configs.begin() + 1, at, at + 1);
      }
    candidates_.resize(configs.size());
    for (std::size_t i = 0; i < configs.size(); ++i) candidates_[i].config = configs[i];
  }

  // Lowers and renders; keeps the first of candidates with the same text.
  void render() {
    in_parallel(candidates_.size(), threads_, [&](std::size_t i) {
      Candidate& each = candidates_[i];
      try {
        each.kernel = lower(target_.plan, target_.group, space_, each.config);
        each.text = text_of(each.kernel);
      } catch (const std::exception& error) {
        each.error = error.what();
      }
    });
    std::set<Hash128> seen;
    const auto is_duplicate = [&](const Candidate& each) {
      return each.error.empty() && !seen.insert(each.text).second;
    };
    result_.duplicates = static_cast<int>(std::erase_if(candidates_, is_duplicate));
    result_.candidates = static_cast<int>(candidates_.size());
  }

  Hash128 text_of(const Kernel& kernel) const {
    return Hasher()
        .add(source_text(device_, kernel.body))
        .add(static_cast<std::uint64_t>(kernel.grid))
        .finish();
  }

  void compile(Candidate& candidate) {
    candidate.compiled = compile_kernel(device_, candidate.kernel.body);
    if (const std::size_t bytes = candidate.compiled->workspace_bytes(); bytes > 0)
      candidate.workspace = device_.allocate(bytes);
  }

  void compile_range(std::size_t begin, std::size_t end) {
    in_parallel(end - begin, threads_, [&](std::size_t i) {
      Candidate& each = candidates_[begin + i];
      if (!each.error.empty()) return;
      try {
        compile(each);
      } catch (const std::exception& error) {
        each.error = error.what();
      }
    });
  }

  std::vector<WrittenBuffer> written_by(const Kernel& kernel) const {
    std::vector<WrittenBuffer> written;
    for (std::size_t i = 0; i < kernel.buffers.size(); ++i)
      if (const KernelBuffer& buffer = kernel.buffers[i]; buffer.written)
        written.push_back({target_.bind(buffer), target_.plan.graph[buffer.node].dtype});
    return written;
  }

  std::function<void()> run_of(const Candidate& candidate) const {
    std::vector<tile::BufferBinding> buffers;
    for (const KernelBuffer& buffer : candidate.kernel.buffers)
      buffers.push_back(target_.bind(buffer));
    if (candidate.workspace)
      buffers.push_back({static_cast<std::byte*>(candidate.workspace->data()),
                         static_cast<std::int64_t>(candidate.workspace->bytes())});
    return [&candidate, buffers = std::move(buffers), scalars = scalar_words(candidate.kernel)] {
      candidate.compiled->launch(buffers, scalars, candidate.kernel.grid, 0);
    };
  }

  void try_all(ResultCheck& check) {
    best_ = &candidates_.front();
    std::size_t compiled = 1;
    for (std::size_t i = 1; i < candidates_.size(); ++i) {
      if (is_over() || !tell(i)) {
        result_.finished = false;
        return;
      }
      if (i == compiled) {
        compiled = std::min(candidates_.size(), i + threads_);
        compile_range(i, compiled);
      }
      if (is_over()) {  // compiling used up the time
        result_.finished = false;
        return;
      }
      Candidate* const best_before = best_;
      try_one(candidates_[i], check);
      unload_if_lost(candidates_[i]);
      unload_if_lost(*best_before);
    }
    tell(candidates_.size());
  }

  // Frees device memory of kernels that will not run again.
  void unload_if_lost(Candidate& candidate) noexcept {
    if (&candidate == best_ || &candidate == &candidates_.front() || !candidate.compiled) return;
    candidate.compiled.reset();
    candidate.workspace.reset();
    device_.forget(candidate.kernel.body);
  }

  bool tell(std::size_t done) const {
    if (!options_.progress) return true;
    return options_.progress({done, candidates_.size(), result_.heuristic_us, result_.us});
  }

  void try_one(Candidate& candidate, ResultCheck& check) {
    if (!candidate.compiled) return fail(candidate.error);
    try {
      const auto challenger = run_of(candidate);
      if (!check.is_right(challenger)) {
        ++result_.wrong;
        return;
      }
      const Contest contest = hold_contest(run_of(*best_), challenger, kRounds, *stopwatch_);
      ++(contest.stopped ? result_.stopped : result_.measured);
      result_.trials.push_back({candidate.config, contest.challenger_us});
      if (!contest.is_won()) return;
      best_ = &candidate;
      result_.config = candidate.config;
      result_.us = contest.challenger_us;
    } catch (const DeviceError& error) {
      fail(error.what());
    }
  }

  void fail(const std::string& why) {
    if (result_.failed++ == 0) result_.first_failure = why;
  }

  // The best of many measurements is partly luck, so it has to win again.
  void confirm(Candidate& heuristic) {
    if (best_ == &heuristic) {
      result_.us = result_.heuristic_us;
      return;
    }
    const Contest contest =
        hold_contest(run_of(heuristic), run_of(*best_), kFinalRounds, *stopwatch_);
    result_.heuristic_us = contest.champion_us;
    result_.us = contest.challenger_us;
    if (contest.is_won()) return;
    best_ = &heuristic;
    result_.config = heuristic.config;
    result_.us = result_.heuristic_us;
  }

  Device& device_;
  const TuneTarget& target_;
  const TunerOptions& options_;
  IterationSpace space_;
  std::size_t threads_;
  double start_;
  std::vector<Candidate> candidates_;  // not resized after rendering: best_ points into it
  Candidate* best_ = nullptr;
  std::unique_ptr<Stopwatch> stopwatch_;
  TunedKernel result_;
};

}  // namespace

TunedKernel tune_kernel(Device& device, const TuneTarget& target, const TunerOptions& options) {
  return KernelTuner(device, target, options).run();
}

}  // namespace sinter
