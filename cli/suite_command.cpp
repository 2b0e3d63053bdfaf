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
#include "cli/numbers.h"
#include "cli/output.h"
#include "cli/progress_bar.h"
#include "cli/suite_table.h"
#include "cli/terminal.h"
#include "src/base/check.h"
#include "src/runtime/interruption.h"
#include "src/suite/cases/program_sizes.h"
#include "src/suite/measure/runner.h"
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

struct SuiteArguments {
  std::string set = "quick";
  std::vector<std::string> cases;
  std::vector<std::string> shapes;
  std::vector<std::string> dtypes{"f32"};
  bool has_dtype = false;  // given on the command line
  std::vector<std::string> providers{"eager", "fused"};
  std::vector<std::string> peers;
  std::string device = "cpu";
  std::string out = "sinter-results";
  std::string compare;  // an older results.json
  double seconds = 0.4;
  bool fail_if_slower = false;
  bool resume = false;
  bool json = false;
  bool list = false;
};

std::string results_path(const SuiteArguments& arguments) {
  return (std::filesystem::path(arguments.out) / "results.json").string();
}

// Cases have two sizes, a program as many as it declares: beside programs, a shape may be for these
// only.
void set_shapes(const SuiteArguments& arguments, suite::SuiteOptions& options) {
  const auto& names = arguments.cases;
  const bool has_programs = std::any_of(names.begin(), names.end(), suite::is_program_path);
  if (has_programs) options.sizes = arguments.shapes;
  for (const std::string& text : arguments.shapes)
    if (!has_programs || suite::try_parse_shape(text))
      options.shapes.push_back(suite::parse_shape(text));
  if (arguments.shapes.empty()) options.shapes = suite::shapes_of_set(arguments.set);
}

suite::SuiteOptions options_of(const SuiteArguments& arguments, const std::string& command_line) {
  suite::SuiteOptions options;
  options.cases = arguments.cases;
  set_shapes(arguments, options);
  options.dtypes.clear();
  for (const std::string& text : arguments.dtypes)
    options.dtypes.push_back(suite::parse_dtype(text));
  options.providers = arguments.providers;
  options.peers = arguments.peers;
  options.device = arguments.device;
  options.seconds = arguments.seconds;
  options.command_line = command_line;
  options.commit = commit();
  return options;
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
  fmt::print("{}", far_text(results));
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
  json["comparison"] = outcome.comparison ? to_json(*outcome.comparison) : Json(nullptr);
  return json;
}

int run_suite_command(const SuiteArguments& arguments, const std::string& command_line) {
  if (arguments.list) return list_cases(arguments.json);
  if (arguments.fail_if_slower && arguments.compare.empty())
    fail_user("suite",
              "--fail-if-slower needs an older run to compare with: add --compare "
              "before/results.json");
  const auto& names = arguments.cases;
  if (arguments.has_dtype && !names.empty() &&
      std::all_of(names.begin(), names.end(), suite::is_program_path))
    fail_user("suite", "a program has its own types: --dtype is for the suite's cases");
  const suite::SuiteOptions options = options_of(arguments, command_line);
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
  command->add_option("--set", arguments->set, "Which shapes: quick (4) or grid (100)")
      ->capture_default_str();
  command
      ->add_option("--cases", arguments->cases,
                   "Which cases, and paths of program files; all cases by default")
      ->delimiter(',');
  command
      ->add_option("--shapes,--shape", arguments->shapes,
                   "ROWSxCOLS,..; instead of a set; of a program, its sizes")
      ->delimiter(',');
  CLI::Option* dtype = command->add_option("--dtype", arguments->dtypes, "f32, f16, bf16, f64")
                           ->delimiter(',')
                           ->capture_default_str();
  command->add_option("--providers", arguments->providers, "eager, fused")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--peers", arguments->peers, "Measure torch (PyTorch) too")->delimiter(',');
  command->add_option("--device", arguments->device, "What to run on")->capture_default_str();
  command->add_option("--seconds", arguments->seconds, "Timing for each case and shape")
      ->check(number_between(0.001, 3600, "a time in seconds"))
      ->capture_default_str();
  command->add_option("--out", arguments->out, "Where results.json, results.csv and report.html go")
      ->capture_default_str();
  command->add_option("--compare", arguments->compare,
                      "An older results.json: show what got slower since, beyond the noise");
  command->add_flag("--fail-if-slower", arguments->fail_if_slower,
                    "With --compare: exit with 1 if anything did");
  command->add_flag("--resume", arguments->resume,
                    "Continue a stopped run: keep the rows in --out, measure the rest");
  command->add_flag("--json", arguments->json, "Print a summary as JSON, or with --list the cases");
  command->add_flag("--list", arguments->list, "Say which cases there are, and run none");
  command->footer(
      "Example:\n  sinter suite --cases softmax,layernorm --shapes 4096x4096,128x65536 --out "
      "results");
  command->callback([arguments, dtype, &invocation] {
    arguments->has_dtype = dtype->count() > 0;
    invocation.run = [arguments, &invocation] {
      return run_suite_command(*arguments, invocation.command_line);
    };
  });
}

}  // namespace sinter::cli
