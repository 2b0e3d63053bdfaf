// The script for zsh, based on its _arguments function. Works as a file _sinter in fpath and with
// source.
#include <fmt/ranges.h>

#include "cli/completion.h"

namespace sinter::cli {
namespace {

// For use inside '..', where _arguments gives [, ] and : a meaning.
std::string quoted(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'')
      result += "'\\''";
    else if (c == '[' || c == ']' || c == ':' || c == '\\')
      result += {'\\', c};
    else
      result += c;
  }
  return result;
}

std::string action_of(const CompletedOption& option) {
  switch (option.kind) {
    case ValueKind::words:
      return option.is_list ? fmt::format("_values -s , value {}", fmt::join(option.words, " "))
                            : fmt::format("({})", fmt::join(option.words, " "));
    case ValueKind::file:
      return "_files";
    case ValueKind::directory:
      return "_files -/";
    case ValueKind::anything:
      break;
  }
  return " ";
}

std::string option_specs(const CompletedCommand& command) {
  std::string specs;
  for (const CompletedOption& option : command.options)
    for (const std::string& name : option.names) {
      const bool equals = option.takes_value && name.starts_with("--");
      specs += fmt::format(" \\\n        '{}{}[{}]", name, equals ? "=" : "",  //
                           quoted(option.description));
      if (option.takes_value) specs += ":value:" + action_of(option);
      specs += "'";
    }
  for (std::size_t i = 0; i < command.arguments.size(); ++i)
    specs += fmt::format(" \\\n        '{}:{}:{}'", i + 1, command.arguments[i].names.front(),
                         action_of(command.arguments[i]));
  return specs;
}

}  // namespace

std::string zsh_completion(std::span<const CompletedCommand> commands) {
  std::string descriptions;
  std::string branches;
  for (const CompletedCommand& command : commands.subspan(1)) {
    descriptions += fmt::format("        '{}:{}'\n", command.name, quoted(command.description));
    branches += fmt::format("      {})\n      _arguments{}\n      ;;\n", command.name,
                            option_specs(command));
  }
  return fmt::format(R"zsh(#compdef sinter
# zsh completion for sinter, written by: sinter completion zsh
_sinter() {{
  local context state state_descr line
  typeset -A opt_args
  _arguments -C{} \
        '1:command:->command' '*::argument:->argument'
  case $state in
    command)
      local -a commands
      commands=(
{}      )
      _describe command commands
      ;;
    argument)
      case $words[1] in
{}      esac
      ;;
  esac
}}
if [[ $funcstack[1] == _sinter ]]; then _sinter "$@"; else compdef _sinter sinter; fi
)zsh",
                     option_specs(commands.front()), descriptions, branches);
}

}  // namespace sinter::cli
