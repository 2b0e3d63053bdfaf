// The table of values. Lists that belong to the library are queried there.
#include "cli/option_values.h"

#include <algorithm>

#include "cli/commands.h"
#include "src/api/devices.h"
#include "src/base/check.h"
#include "src/base/nearest_name.h"
#include "src/program/offline_cuda.h"
#include "src/suite/cases/case.h"
#include "src/suite/measure/runner.h"
#include "src/suite/peers/peers.h"

namespace sinter::cli {
namespace {

using Words = std::vector<std::string>;

Words case_names() {
  Words names;
  for (const suite::Case& each : suite::all_cases()) names.push_back(each.name);
  return names;
}

Words dtype_names() {
  const std::vector<std::string_view> names = suite::dtype_names();
  return {names.begin(), names.end()};
}

Words architecture_names() {
  Words names;
  for (const CudaArchitecture& each : cuda_architectures()) names.push_back(each.name);
  return names;
}

Words stage_names() {
  return {"graph", "passes", "simplified", "plan", "kernels",
          "tile",  "source", "launches",   "ptx",  "sass"};
}
Words provider_names() { return {"eager", "fused", "batch_invariant"}; }
Words shell_names() { return {"bash", "zsh", "fish"}; }
Words command_names() {
  CLI::App app;
  Invocation invocation;
  add_all_commands(app, invocation);
  Words names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}
// Any ROWSxCOLS is valid; these are offered.
Words some_shapes() {
  Words shapes;
  for (const suite::Shape2& shape : suite::shapes_of_set("quick"))
    shapes.push_back(to_string(shape));
  return shapes;
}

const std::vector<OptionValues>& table() {
  // Case names are checked by find_case(), which knows the pending ones.
  static const std::vector<OptionValues> rows{
      {"case", ValueKind::words, case_names},
      {"--cases", ValueKind::words, case_names},
      {"--shape", ValueKind::words, some_shapes},
      {"--shapes", ValueKind::words, some_shapes},
      {"--dtype", ValueKind::words, dtype_names, "type"},
      {"--set", ValueKind::words, suite::set_names, "set"},
      {"--stage", ValueKind::words, stage_names, "stage"},
      // Includes devices that are unavailable here; the device itself says why.
      {"--device", ValueKind::words, known_device_names, "device"},
      {"--arch", ValueKind::words, architecture_names, "architecture"},
      {"--providers", ValueKind::words, provider_names, "provider"},
      {"--peers", ValueKind::words, suite::peer_names, "peer"},
      {"shell", ValueKind::words, shell_names, "shell"},
      {"command", ValueKind::words, command_names, "command"},
      {"--out", ValueKind::directory},
      {"--compare", ValueKind::file},
      {"results", ValueKind::file},
      {"before", ValueKind::file},
      {"now", ValueKind::file},
      {"--seconds", ValueKind::anything},
      {"--seed", ValueKind::anything},
      {"--cells", ValueKind::anything},
      {"--budget", ValueKind::anything},
  };
  return rows;
}

}  // namespace

std::span<const OptionValues> all_option_values() { return table(); }

const OptionValues* values_of(const CLI::Option& option) {
  const std::string name = option.get_name();
  for (const OptionValues& row : table())
    if (row.name == name) return &row;
  return nullptr;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

void check_words(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    const OptionValues* values = values_of(*option);
    if (option->count() == 0 || !values || values->what.empty()) continue;
    const Words words = values->words();
    for (const std::string& given : option->results())
      if (std::find(words.begin(), words.end(), given) == words.end())
        throw UserError(unknown_name(values->what, given, words));
  }
}

}  // namespace sinter::cli
