// `sinter report`: makes report.html from a results.json, possibly from another machine.
#include <fmt/format.h>
#include <sinter/error.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/output.h"
#include "src/suite/report/report.h"

namespace sinter::cli {
namespace {

struct ReportArguments {
  std::string results;
  std::string compared_with;
  std::string out;
};

// Beside the results by default; the results may be given as a folder.
std::string page_directory(const ReportArguments& arguments) {
  if (!arguments.out.empty()) return arguments.out;
  const std::filesystem::path results(arguments.results);
  if (std::filesystem::is_directory(results)) return results.string();
  return results.has_parent_path() ? results.parent_path().string() : ".";
}

int write_report_command(const ReportArguments& arguments) {
  const suite::Results results = suite::read_results(arguments.results, "report");
  std::optional<suite::Results> compared_with;
  if (!arguments.compared_with.empty())
    compared_with = suite::read_results(arguments.compared_with, "report");
  const std::string directory = page_directory(arguments);
  try {
    fmt::print("{}\n",
               suite::write_report(directory, results, compared_with ? &*compared_with : nullptr));
  } catch (const UserError& error) {
    throw UserError(other_folder(error));
  }
  return kOk;
}

}  // namespace

void add_report_command(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<ReportArguments>();
  CLI::App* command = app.add_subcommand("report", "Make an HTML page from a run's results.json");
  command
      ->add_option("results", arguments->results, "A results.json of sinter suite, or its folder")
      ->required();
  command->add_option("--compare", arguments->compared_with,
                      "An earlier run's results.json: shows what became faster or slower");
  command->add_option("--out", arguments->out,
                      "The folder for report.html; default: the folder of the results");
  command->footer(
      "Example:\n  sinter report sinter-results\n"
      "  sinter report after/results.json --compare before/results.json --out pages");
  command->callback([arguments, &invocation] {
    invocation.run = [arguments] { return write_report_command(*arguments); };
  });
}

}  // namespace sinter::cli
