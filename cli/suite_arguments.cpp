// Names and shapes are checked by the suite, which knows the valid ones.
#include "cli/suite_arguments.h"

#include <algorithm>

#include "cli/numbers.h"
#include "src/base/check.h"
#include "src/suite/cases/program_sizes.h"

namespace sinter::cli {
namespace {

constexpr std::uint64_t kMostCells = 100'000;

bool has_programs_only(const std::vector<std::string>& names) {
  return !names.empty() && std::all_of(names.begin(), names.end(), suite::is_program_path);
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

void add_selection(CLI::App& command, SuiteArguments& arguments) {
  command
      .add_option("--set", arguments.set,
                  "Which shapes: quick (4), grid (100), or random: cells drawn over cases, types "
                  "and shapes")
      ->capture_default_str();
  command
      .add_option("--seed", arguments.seed,
                  "With --set random: the same seed gives the same cells; default: from the clock")
      ->check(whole_number_between(0, suite::kLargestSeed, "a seed"));
  command.add_option("--cells", arguments.cells, "With --set random: how many are drawn")
      ->check(whole_number_between(1, kMostCells, "a number of cells"))
      ->default_str(std::to_string(suite::kDefaultCells));
  command
      .add_option("--cases", arguments.cases,
                  "Which cases, and paths of program files; all cases by default")
      ->delimiter(',');
  command
      .add_option("--shapes,--shape", arguments.shapes,
                  "ROWSxCOLS,..; instead of a set; of a program, its sizes")
      ->delimiter(',');
  command
      .add_option("--dtype", arguments.dtypes,
                  "f32, f16, bf16, f64; --set random draws the first three")
      ->delimiter(',')
      ->default_str("f32");
}

void add_measuring(CLI::App& command, SuiteArguments& arguments) {
  command.add_option("--providers", arguments.providers, "eager, fused, batch_invariant")
      ->delimiter(',')
      ->capture_default_str();
  command.add_option("--peers", arguments.peers, "Measure torch (PyTorch) too")->delimiter(',');
  command.add_option("--device", arguments.device, "What to run on")->capture_default_str();
  command.add_option("--seconds", arguments.seconds, "Timing for each case and shape")
      ->check(number_between(0.001, 3600, "a time in seconds"))
      ->capture_default_str();
}

void add_files(CLI::App& command, SuiteArguments& arguments) {
  command.add_option("--out", arguments.out, "Where results.json, results.csv and report.html go")
      ->capture_default_str();
  command.add_option("--compare", arguments.compare,
                     "An older results.json: show what got slower since, beyond the noise");
  command.add_flag("--fail-if-slower", arguments.fail_if_slower,
                   "With --compare: exit with 1 if anything did");
  command.add_flag("--resume", arguments.resume,
                   "Continue a stopped run: keep the rows in --out, measure the rest");
  command.add_flag("--json", arguments.json, "Print a summary as JSON, or with --list the cases");
  command.add_flag("--list", arguments.list, "Say which cases there are, and run none");
}

}  // namespace

void add_suite_options(CLI::App& command, SuiteArguments& arguments) {
  add_selection(command, arguments);
  add_measuring(command, arguments);
  add_files(command, arguments);
}

void check_suite_arguments(const SuiteArguments& arguments) {
  if (arguments.fail_if_slower && arguments.compare.empty())
    fail_user("suite",
              "--fail-if-slower needs an older run to compare with: add --compare "
              "before/results.json");
  if (!arguments.dtypes.empty() && has_programs_only(arguments.cases))
    fail_user("suite", "a program has its own types: --dtype is for the suite's cases");
  if (!arguments.is_random() && (arguments.seed || arguments.cells))
    fail_user("suite", "{} is for the random set: add --set random",
              arguments.seed ? "--seed" : "--cells");
  if (arguments.is_random() && !arguments.shapes.empty())
    fail_user("suite",
              "--set random draws its shapes: leave out --shapes, or --set random to measure the "
              "given shapes");
}

suite::SuiteOptions suite_options(const SuiteArguments& arguments) {
  suite::SuiteOptions options;
  options.cases = arguments.cases;
  std::vector<std::string> dtypes = arguments.dtypes;
  if (arguments.is_random()) {
    options.random.emplace();
    options.random->cells = arguments.cells.value_or(suite::kDefaultCells);
    if (dtypes.empty()) dtypes = {"f32", "f16", "bf16"};
  } else {
    set_shapes(arguments, options);
    if (dtypes.empty()) dtypes = {"f32"};
  }
  options.dtypes.clear();
  for (const std::string& text : dtypes) options.dtypes.push_back(suite::parse_dtype(text));
  options.providers = arguments.providers;
  options.peers = arguments.peers;
  options.device = arguments.device;
  options.seconds = arguments.seconds;
  return options;
}

}  // namespace sinter::cli
