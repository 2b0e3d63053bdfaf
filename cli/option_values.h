// Valid values of options, shared by all commands: an option of the same name means the same
// everywhere. Used to detect typos and for shell completion.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

namespace sinter::cli {

enum class ValueKind { anything, words, file, directory };

struct OptionValues {
  std::string name;  // "--dtype"; for an argument its name, "case"
  ValueKind kind = ValueKind::anything;
  std::vector<std::string> (*words)() = nullptr;
  std::string what = "";  // a word that is not known is "no `what`"; empty: the command checks
};

std::span<const OptionValues> all_option_values();
// Null if it has no row in the table. A test fails for an option with a value and no row.
const OptionValues* values_of(const CLI::Option& option);

bool takes_value(const CLI::Option& option);

// UserError with a suggestion for the first invalid word given to `command`.
void check_words(const CLI::App& command);

}  // namespace sinter::cli
