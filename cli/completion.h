// Data for shell completion: the app's commands, options and values, and a script for each shell
// generated from it. Contains nothing specific to a command.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

#include "cli/option_values.h"

namespace sinter::cli {

struct CompletedOption {
  std::vector<std::string> names;    // "--help", "-h"; for an argument just its name
  std::vector<std::string> aliases;  // other spellings: accepted but not offered
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

std::vector<CompletedCommand> completed_commands(const CLI::App& app);  // the tool itself first

std::string bash_completion(std::span<const CompletedCommand> commands);
std::string zsh_completion(std::span<const CompletedCommand> commands);
std::string fish_completion(std::span<const CompletedCommand> commands);

}  // namespace sinter::cli
