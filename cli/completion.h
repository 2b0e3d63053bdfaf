// What shells need to know to complete a command line: the app's commands, options and values as
// plain data, and a script for each shell made from it. Nothing about a command is said here.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

#include "cli/option_values.h"

namespace sinter::cli {

struct CompletedOption {
  std::vector<std::string> names;    // "--help", "-h"; of an argument just its name
  std::vector<std::string> aliases;  // other spellings: accepted, but not offered
  std::string description;
  bool takes_value = false;
  bool is_list = false;  // a,b,c
  ValueKind kind = ValueKind::anything;
  std::vector<std::string> words;
};

struct CompletedCommand {
  std::string name;  // empty: the tool itself
  std::string description;
  std::vector<CompletedOption> options;
  std::vector<CompletedOption> arguments;
};

std::vector<CompletedCommand> completed_commands(const CLI::App& app);  // the tool itself is first

std::string bash_completion(std::span<const CompletedCommand> commands);
std::string zsh_completion(std::span<const CompletedCommand> commands);
std::string fish_completion(std::span<const CompletedCommand> commands);

}  // namespace sinter::cli
