// The script for bash (4 or newer): two tables generated from the commands, and a function that
// looks words up in them.
#include <fmt/ranges.h>

#include "cli/completion.h"

namespace sinter::cli {
namespace {

// The function bash calls. COMP_WORDS has the "=" of --option=value as a separate word.
constexpr char kFunction[] = R"bash(_sinter() {
  local i given word command= option= argument=1 kind= words= head= each
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    given=${COMP_WORDS[i]}
    if [[ $given == "=" ]]; then
      continue
    elif [[ -n $option ]]; then
      option=
    elif [[ $given == -* ]]; then
      _sinter_value "$command" "$given" && option=$given
    elif [[ -z $command ]]; then
      command=$given
    else
      argument=$((argument + 1))
    fi
  done
  word=${COMP_WORDS[COMP_CWORD]}
  [[ $word == "=" ]] && word=
  if [[ -n $option ]]; then
    _sinter_value "$command" "$option"
  elif [[ $word == -* ]] || ! _sinter_value "$command" "$argument"; then
    _sinter_options "$command"
  fi
  case $kind in
    word) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
    list)
      [[ $word == *,* ]] && head=${word%,*},
      for each in $words; do
        [[ ,$head == *,$each,* ]] || COMPREPLY+=($(compgen -W "$head$each" -- "$word"))
      done
      compopt -o nospace 2>/dev/null
      ;;
    file | directory)
      local IFS=$'\n'
      COMPREPLY=($(compgen -${kind:0:1} -- "$word"))
      compopt -o filenames 2>/dev/null
      ;;
  esac
  return 0
}
complete -F _sinter sinter
)bash";

std::string kind_of(const CompletedOption& option) {
  switch (option.kind) {
    case ValueKind::words:
      return fmt::format("kind={} words='{}'", option.is_list ? "list" : "word",
                         fmt::join(option.words, " "));
    case ValueKind::file:
      return "kind=file";
    case ValueKind::directory:
      return "kind=directory";
    case ValueKind::anything:
      break;
  }
  return "kind=anything";
}

// The tool's own first argument is the command.
std::string command_row(std::span<const CompletedCommand> commands) {
  std::vector<std::string> names;
  for (const CompletedCommand& command : commands.subspan(1)) names.push_back(command.name);
  return fmt::format("    ' 1') kind=word words='{}' ;;\n", fmt::join(names, " "));
}

std::string values_function(std::span<const CompletedCommand> commands) {
  std::string rows = command_row(commands);
  for (const CompletedCommand& command : commands) {
    for (std::size_t i = 0; i < command.arguments.size(); ++i)
      rows +=
          fmt::format("    '{} {}') {} ;;\n", command.name, i + 1, kind_of(command.arguments[i]));
    for (const CompletedOption& option : command.options)
      for (const auto* names : {&option.names, &option.aliases})
        for (const std::string& name : *names)
          if (option.takes_value)
            rows += fmt::format("    '{} {}') {} ;;\n", command.name, name, kind_of(option));
  }
  return fmt::format(
      "# The value of option $2 of command $1, or of its argument number $2.\n"
      "_sinter_value() {{\n  case \"$1 $2\" in\n{}    *) return 1 ;;\n  esac\n}}\n",
      rows);
}

std::string options_function(std::span<const CompletedCommand> commands) {
  std::string rows;
  for (const CompletedCommand& command : commands) {
    std::vector<std::string> names;
    for (const CompletedOption& option : command.options) names.push_back(option.names.front());
    rows += fmt::format("    '{}') words='{}' ;;\n", command.name, fmt::join(names, " "));
  }
  return fmt::format(
      "# The options of command $1.\n"
      "_sinter_options() {{\n  kind=word\n  case $1 in\n{}  esac\n}}\n",
      rows);
}

}  // namespace

std::string bash_completion(std::span<const CompletedCommand> commands) {
  return fmt::format("# bash completion for sinter, written by: sinter completion bash\n{}\n{}\n{}",
                     values_function(commands), options_function(commands), kFunction);
}

}  // namespace sinter::cli
