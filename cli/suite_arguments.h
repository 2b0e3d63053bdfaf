// The options of `sinter suite`: their names, the combinations that make no sense, and what a run
// gets from them. In: a command line. Out: SuiteArguments, then suite::SuiteOptions.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/suite/measure/runner.h"

namespace sinter::cli {

struct SuiteArguments {
  std::string set = "quick";
  std::optional<std::uint64_t> seed;  // of the random set, like `cells`
  std::optional<int> cells;
  std::vector<std::string> cases;
  std::vector<std::string> shapes;
  std::vector<std::string> dtypes;  // empty: the set's
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

  bool is_random() const { return set == suite::kRandomSet; }
};

// The command keeps references to `arguments`.
void add_suite_options(CLI::App& command, SuiteArguments& arguments);

// UserError for options that exclude or require each other.
void check_suite_arguments(const SuiteArguments& arguments);

// All but the seed of the random set where none is given, and what main() knows.
suite::SuiteOptions suite_options(const SuiteArguments& arguments);

}  // namespace sinter::cli
