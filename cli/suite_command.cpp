// `sinter suite`: measures the cases, writes the results after each, prints a table at the end.
#include <fmt/format.h>
#include <sinter/error.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/comparison_table.h"
#include "cli/json_output.h"
#include "cli/output.h"
#include "cli/progress_bar.h"
#include "cli/random_text.h"
#include "cli/suite_arguments.h"
#include "cli/suite_table.h"
#include "cli/terminal.h"
#include "src/runtime/interruption.h"
#include "src/suite/measure/measure_again.h"
#include "src/suite/measure/runner.h"
#include "src/suite/report/random_summary.h"
#include "src/suite/report/report.h"
#include "src/suite/results/compare_json.h"

namespace sinter::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

// The first Ctrl-C ends the run after the current case, the second one at once.
void stop_on_interrupt() {
  struct sigaction action {};
  action.sa_handler = [](int signal) {
    interrupted = 1;
    clean_up_on_signal(signal);
  };
  action.sa_flags = SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

std::optional<std::string> commit() {
#ifdef SINTER_COMMIT
  return SINTER_COMMIT;
#else
  return std::nullopt;
#endif
}

std::string results_path(const SuiteArguments& arguments) {
  return (std::filesystem::path(arguments.out) / "results.json").string();
}

// For a run without --seed. Printed, so that an interrupted run can be repeated.
std::uint64_t seed_from_clock() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto count = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  const std::uint64_t seed = static_cast<std::uint64_t>(count) & suite::kLargestSeed;
  print_error(fmt::format("The random set gets --seed {}\n", seed));
  return seed;
}

// Without --seed, a resumed run goes on with its own.
void set_seed(const SuiteArguments& arguments, suite::SuiteOptions& options) {
  if (!options.random) return;
  if (arguments.seed)
    options.random->seed = *arguments.seed;
  else if (options.resumed && options.resumed->random)
    options.random->seed = options.resumed->random->seed;
  else
    options.random->seed = seed_from_clock();
}

int list_cases(bool json) {
  if (json) {
    fmt::print("{}", cases_json());
    return kOk;
  }
  for (const suite::Case& each : suite::all_cases())
    fmt::print("{:<22}{}\n", each.name, each.formula);
  for (const suite::PendingCase& each : suite::pending_cases())
    fmt::print("{:<22}not yet: {}\n", each.name, each.reason);
  return kOk;
}

// Writes results.json during the run, so that a crash loses little.
class RunningResults {
 public:
  explicit RunningResults(const SuiteArguments& arguments) : arguments_(arguments) {}

  // Also before the first case, to detect an unwritable folder early. Later, a disk that is
  // temporarily full does not end the run.
  void update(const suite::Results& results) {
    const Clock::time_point start = Clock::now();
    if (!begun_) {
      if (!arguments_.resume) keep_previous();
      try {
        write_results(arguments_.out, results);
      } catch (const UserError& error) {
        throw UserError(other_folder(error));
      }
      begun_ = true;
    } else if (Clock::now() - written_ > std::max<Clock::duration>(kBetween, kShare * writing_)) {
      try {
        write_results(arguments_.out, results);
      } catch (const Error& error) {
        print_error(error.what());
      }
    } else {
      return;
    }
    written_ = Clock::now();
    writing_ = written_ - start;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kBetween{1};
  // At most 1/kShare of the time is spent on writing: there may be thousands of rows.
  static constexpr int kShare = 50;

  // Keeps the previous results for one more run, for comparison.
  void keep_previous() const {
    std::error_code ignored;  // usually there are none
    std::filesystem::rename(results_path(arguments_),
                            std::filesystem::path(arguments_.out) / "results.previous.json",
                            ignored);
  }

  const SuiteArguments& arguments_;
  bool begun_ = false;
  Clock::time_point written_;
  Clock::duration writing_{};  // duration of the last write
};

// Everything one invocation produced.
struct Outcome {
  suite::Results results;
  std::optional<suite::Comparison> comparison;
  std::string path;    // of results.json
  std::string report;  // of report.html
  double seconds = 0;

  bool failed() const {
    return std::any_of(results.rows.begin(), results.rows.end(),
                       [](const suite::ResultRow& row) { return row.failed() && !row.is_peers(); });
  }
  auto skipped() const {
    return std::count_if(results.rows.begin(), results.rows.end(),
                         [](const suite::ResultRow& row) { return !row.skipped.empty(); });
  }
};

Outcome measure_suite(const SuiteArguments& arguments, suite::SuiteOptions options) {
  std::optional<suite::Results> before;
  if (!arguments.compare.empty()) before = suite::read_results(arguments.compare);
  if (arguments.resume) options.resumed = suite::read_results(results_path(arguments));
  set_seed(arguments, options);

  ProgressBar bar;
  const auto show = [&](const suite::Progress& at) {
    if (!interrupted) bar.update(at.done, at.total, at.next, at.work, at.all_work);
    return !interrupted;
  };
  RunningResults file(arguments);
  Outcome outcome;
  outcome.results = suite::run_suite(options, [&](const suite::Progress& at) {
    file.update(at.results);
    return show(at);
  });
  if (options.random) suite::measure_outliers_again(options, show, outcome.results);
  if (before && !outcome.results.interrupted)
    suite::measure_again(*before, options, show, outcome.results);
  bar.finish();
  if (before) outcome.comparison = suite::compare(*before, outcome.results);
  outcome.path = write_results(arguments.out, outcome.results);
  outcome.report = write_report(arguments.out, outcome.results, before ? &*before : nullptr);
  outcome.seconds = bar.seconds();
  return outcome;
}

void print_summary(const Outcome& outcome, const SuiteArguments& arguments) {
  const suite::Results& results = outcome.results;
  const std::string failures = suite_failures(results);
  fmt::print("{}", suite_table(results));
  if (!failures.empty()) fmt::print("\n{}\n{}", coloured("Failed:", Colour::red, stdout), failures);
  if (outcome.comparison)
    fmt::print("\n{}", comparison_text(*outcome.comparison, arguments.compare));
  fmt::print("\n{}: {}, a large copy moves {}/s\n", results.device, results.description,
             bytes_text(results.copy_bytes_per_s));
  fmt::print("limit us: a copy that moves as many bytes; rel err: of |x| or the result's rms\n");
  fmt::print("{}{}", far_text(results), random_text(results));
  if (outcome.skipped())
    fmt::print("{} rows were skipped, each says why in the report: too large, usually\n",
               outcome.skipped());
  fmt::print("{} cases of the suite cannot run yet: sinter suite --list\n",
             suite::pending_cases().size());
  fmt::print("{}{} in {}\n", results.interrupted ? "Interrupted; so far: " : "", outcome.path,
             duration_text(outcome.seconds));
  if (results.interrupted) fmt::print("Go on with the same command and --resume\n");
  fmt::print("Report: {}\n", outcome.report);
}

Json summary_json(const Outcome& outcome) {
  Json json{{"results", outcome.path},
            {"report", outcome.report},
            {"rows", outcome.results.rows.size()},
            {"failed", outcome.failed()},
            {"skipped", outcome.skipped()},
            {"interrupted", outcome.results.interrupted},
            {"seconds", outcome.seconds}};
  json["random"] = to_json(suite::random_summary(outcome.results));
  json["comparison"] = outcome.comparison ? to_json(*outcome.comparison) : Json(nullptr);
  return json;
}

int run_suite_command(const SuiteArguments& arguments, const std::string& command_line) {
  if (arguments.list) return list_cases(arguments.json);
  check_suite_arguments(arguments);
  suite::SuiteOptions options = suite_options(arguments);
  options.command_line = command_line;
  options.commit = commit();
  stop_on_interrupt();
  const Outcome outcome = measure_suite(arguments, options);
  if (arguments.json)
    print_json(summary_json(outcome));
  else
    print_summary(outcome, arguments);
  const bool worse = outcome.comparison && outcome.comparison->is_worse();
  const bool failed =
      outcome.failed() || outcome.results.interrupted || (arguments.fail_if_slower && worse);
  return failed ? kFailed : kOk;
}

}  // namespace

void add_suite_command(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<SuiteArguments>();
  CLI::App* command =
      app.add_subcommand("suite", "Measure the fusion suite: fused, unfused, and the limit");
  add_suite_options(*command, *arguments);
  command->footer(
      "Example:\n  sinter suite --cases softmax --shapes 4096x4096,128x65536 --out results\n"
      "  sinter suite --set random --seed 7 --cells 30");
  command->callback([arguments, &invocation] {
    invocation.run = [arguments, &invocation] {
      return run_suite_command(*arguments, invocation.command_line);
    };
  });
}

}  // namespace sinter::cli
