// `sinter report`: makes report.html from a results.json, also of another machine's run.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "src/suite/report.h"

namespace sinter::cli {
namespace {

struct ReportArguments {
  std::string results;
  std::string compared_with;
  std::string out;
};

int write_report_command(const ReportArguments& arguments) {
  const suite::Results results = suite::read_results(arguments.results);
  std::optional<suite::Results> compared_with;
  if (!arguments.compared_with.empty())
    compared_with = suite::read_results(arguments.compared_with);
  std::string directory = arguments.out;
  if (directory.empty())
    directory = std::filesystem::path(arguments.results).parent_path().string();
  if (directory.empty()) directory = ".";
  const std::string path =
      suite::write_report(directory, results, compared_with ? &*compared_with : nullptr);
  fmt::print("{}\n", path);
  return kOk;
}

}  // namespace

void add_report_command(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<ReportArguments>();
  CLI::App* command =
      app.add_subcommand("report", "Make a page for people from a run's results.json");
  command->add_option("results", arguments->results, "A results.json of sinter suite")->required();
  command->add_option("--compare", arguments->compared_with,
                      "An earlier run's results.json: shows what became faster or slower");
  command->add_option("--out", arguments->out,
                      "The folder for report.html; that of the results by default");
  command->footer(
      "Example:\n  sinter report sinter-results/results.json --compare before/results.json");
  command->callback([arguments, &invocation] {
    invocation.run = [arguments] { return write_report_command(*arguments); };
  });
}

}  // namespace sinter::cli
