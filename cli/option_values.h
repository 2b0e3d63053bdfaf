// What an option's value may be, said once for all commands: an option of the same name means the
// same everywhere. Typing errors are found with it, and shells complete by it.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

namespace sinter::cli {

enum class ValueKind { anything, words, file, directory };

struct OptionValues {
  std::string name;  // "--dtype"; an argument's name, "case"
  ValueKind kind = ValueKind::anything;
  std::vector<std::string> (*words)() = nullptr;
  std::string what = "";  // a word that is not known is "no `what`"; empty: the command checks
};

std::span<const OptionValues> all_option_values();
// Null for what has no row in the table. A test fails for an option with a value and no row.
const OptionValues* values_of(const CLI::Option& option);

bool takes_value(const CLI::Option& option);

// UserError with a suggestion for the first word given to `command` that is none of its option's.
void check_words(const CLI::App& command);

}  // namespace sinter::cli
