// CLI11 takes a word that it does not know for an argument of nobody's and goes on; its error may
// be about what is missing because of that. So the words that are left over are looked at first.
#include "cli/usage.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/suite/nearest_name.h"

namespace sinter::cli {
namespace {

const CLI::App& named_command(const CLI::App& app) {
  const std::vector<CLI::App*> named = app.get_subcommands();
  return named.empty() ? app : *named.front();
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// About the first word that nobody took; empty if there is none.
std::string stray_text(const CLI::App& app, const CLI::App& command) {
  const std::vector<std::string> stray = app.remaining(true);
  const auto option = std::find_if(stray.begin(), stray.end(),
                                   [](const std::string& word) { return word.starts_with('-'); });
  if (option != stray.end())
    return suite::unknown_name("option", option->substr(0, option->find('=')),
                               option_names(command));
  if (stray.empty()) return "";
  if (&command == &app) return suite::unknown_name("command", stray.front(), command_names(app));
  return fmt::format("'{}' is one argument too many", stray.front());
}

}  // namespace

std::string usage_text(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = named_command(app);
  const std::string stray = stray_text(app, command);
  if (stray.empty() && &command == &app) return app.help();
  const std::string name = &command == &app ? "" : command.get_name() + " ";
  return fmt::format("sinter: {}\nRead on with: sinter {}--help\n",
                     stray.empty() ? error.what() : stray, name);
}

}  // namespace sinter::cli
