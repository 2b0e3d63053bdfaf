// `sinter compare`: compares two runs of the suite stored in files.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/comparison_table.h"
#include "cli/json_output.h"
#include "src/suite/results/compare_json.h"

namespace sinter::cli {
namespace {

struct CompareArguments {
  std::string before;
  std::string now;
  bool fail_if_slower = false;
  bool json = false;
};

int run_compare(const CompareArguments& arguments) {
  const suite::Results before = suite::read_results(arguments.before, "compare");
  const suite::Results now = suite::read_results(arguments.now, "compare");
  const suite::Comparison comparison = suite::compare(before, now);
  if (arguments.json)
    print_json(to_json(comparison));
  else
    fmt::print("{}", comparison_text(comparison, arguments.before));
  return arguments.fail_if_slower && comparison.is_worse() ? kFailed : kOk;
}

}  // namespace

void add_compare_command(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<CompareArguments>();
  CLI::App* command =
      app.add_subcommand("compare", "Show what got slower between two runs, beyond the noise");
  command->add_option("before", arguments->before, "The older results.json")->required();
  command->add_option("now", arguments->now, "The newer results.json")->required();
  command->add_flag("--fail-if-slower", arguments->fail_if_slower, "Exit with 1 if anything did");
  command->add_flag("--json", arguments->json, "Every row's change, for programs");
  command->footer("Example:\n  sinter compare before/results.json after/results.json");
  command->callback([arguments, &invocation] {
    invocation.run = [arguments] { return run_compare(*arguments); };
  });
}

}  // namespace sinter::cli
