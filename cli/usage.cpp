// CLI11 treats an unknown word as an extra argument and continues, so its error may be a
// consequence of that word. Extra words are therefore reported first. Missing options are reported
// with their valid values and an example; CLI11 only gives the name.
#include "cli/usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "cli/option_values.h"
#include "src/base/nearest_name.h"

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

// About the first extra word; empty if there is none.
std::string stray_text(const CLI::App& app, const CLI::App& command) {
  const std::vector<std::string> stray = app.remaining(true);
  const auto option = std::find_if(stray.begin(), stray.end(),
                                   [](const std::string& word) { return word.starts_with('-'); });
  if (option != stray.end())
    return unknown_name("option", option->substr(0, option->find('=')), option_names(command));
  if (stray.empty()) return "";
  if (&command == &app) return unknown_name("command", stray.front(), command_names(app));
  return fmt::format("'{}' is one argument too many", stray.front());
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}
std::string with_small_initial(std::string text) {
  if (!text.empty())
    text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
  return text;
}

// As typed: "--stage"; for an argument "CASE", as in the usage line.
std::string typed_name(const CLI::Option& option) {
  return option.nonpositional() ? option.get_name() : upper(option.get_name());
}

// "there are eager and fused", or a description if any text is valid.
std::string expected_text(const CLI::Option& option) {
  const OptionValues* values = values_of(option);
  if (values && values->words) return listed_names(values->words());
  return with_small_initial(option.get_description());
}

// About every required argument and option that is missing; empty if there is none.
std::string missing_text(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : command.get_options())
    if (option->get_required() && option->count() == 0)
      text += fmt::format("{} {}: {}", text.empty() ? command.get_name() + " needs" : "; and",
                          typed_name(*option), expected_text(*option));
  return text;
}

// About an option without its value. CLI11's message begins with its name.
std::string valueless_text(const CLI::App& command, const CLI::ParseError& error) {
  if (!dynamic_cast<const CLI::ArgumentMismatch*>(&error)) return "";
  const std::string message = error.what();
  const CLI::Option* option = command.get_option_no_throw(message.substr(0, message.find(':')));
  if (!option || option->count() > 0) return "";
  return fmt::format("{} needs a value: {}", typed_name(*option), expected_text(*option));
}

// The example in the command's help, at the beginning of its footer.
std::string example_text(const CLI::App& command) {
  const std::string footer = command.get_footer();
  return footer.starts_with("Example:") ? footer + "\n" : "";
}

}  // namespace

std::string usage_text(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = named_command(app);
  const std::string stray = stray_text(app, command);
  if (stray.empty() && &command == &app) return app.help();
  const std::string name = &command == &app ? "" : command.get_name() + " ";
  const std::string read_on = fmt::format("Read on with: sinter {}--help\n", name);
  if (!stray.empty()) return fmt::format("sinter: {}\n{}", stray, read_on);
  const std::string valueless = valueless_text(command, error);
  if (!valueless.empty()) return fmt::format("sinter: {}\n{}", valueless, read_on);
  const std::string missing = missing_text(command);
  if (dynamic_cast<const CLI::RequiredError*>(&error) && !missing.empty())
    return fmt::format("sinter: {}\n{}{}", missing, example_text(command), read_on);
  return fmt::format("sinter: {}\n{}", error.what(), read_on);
}

}  // namespace sinter::cli
