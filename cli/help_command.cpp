// `sinter help [COMMAND]`: the same text as --help.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"

namespace sinter::cli {
namespace {

// Uses a fresh app: CLI11 prints the help of the command that was parsed.
std::string help_text(const std::string& command) {
  CLI::App app;
  Invocation invocation;
  add_all_commands(app, invocation);
  return command.empty() ? app.help() : app.get_subcommand(command)->help("sinter");
}

}  // namespace

void add_help_command(CLI::App& app, Invocation& invocation) {
  auto name = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("help", "Print the help of the tool or of a command");
  command->add_option("command", *name, "Which command; default: the tool itself");
  command->footer("Example:\n  sinter help suite");
  command->callback([name, &invocation] {
    invocation.run = [name] {
      fmt::print("{}", help_text(*name));
      return kOk;
    };
  });
}

}  // namespace sinter::cli
