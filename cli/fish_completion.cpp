// The script for fish: one `complete` line per option, command and argument.
#include <fmt/ranges.h>

#include "cli/completion.h"

namespace sinter::cli {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

std::string words_of(const CompletedOption& option) {
  const std::string words = fmt::format("{}", fmt::join(option.words, " "));
  return quoted(option.is_list ? "(__fish_append , " + words + ")" : words);
}

// -x: takes a value that is not a file; -r -F: takes a file.
std::string value_of(const CompletedOption& option) {
  if (!option.takes_value) return "";
  switch (option.kind) {
    case ValueKind::words:
      return " -x -a " + words_of(option);
    case ValueKind::file:
      return " -r -F";
    case ValueKind::directory:
      return " -x -a '(__fish_complete_directories)'";
    case ValueKind::anything:
      break;
  }
  return " -x";
}

std::string lines_of(const CompletedCommand& command) {
  const std::string start =
      fmt::format("complete -c sinter -n {}",
                  command.name.empty() ? "__fish_use_subcommand"
                                       : quoted("__fish_seen_subcommand_from " + command.name));
  std::string lines;
  for (const CompletedOption& option : command.options) {
    lines += start;
    for (const std::string& name : option.names)
      lines += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    lines += fmt::format("{} -d {}\n", value_of(option), quoted(option.description));
  }
  for (const CompletedOption& argument : command.arguments)
    if (argument.kind == ValueKind::words)
      lines += fmt::format("{} -a {}\n", start, words_of(argument));
  return lines;
}

}  // namespace

std::string fish_completion(std::span<const CompletedCommand> commands) {
  std::string text =
      "# fish completion for sinter, written by: sinter completion fish\n"
      "complete -c sinter -f\n";
  for (const CompletedCommand& command : commands.subspan(1))
    text += fmt::format("complete -c sinter -n __fish_use_subcommand -a {} -d {}\n", command.name,
                        quoted(command.description));
  for (const CompletedCommand& command : commands) text += lines_of(command);
  return text;
}

}  // namespace sinter::cli
