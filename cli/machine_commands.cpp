// `sinter devices` and `sinter cache`: what this machine has, and what Sinter keeps on it.
#include <fmt/format.h>
#include <sinter/device.h>

#include <memory>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "src/base/options.h"
#include "src/runtime/disk_cache.h"

namespace sinter::cli {
namespace {

int print_devices() {
  for (const DeviceInfo& device : devices()) {
    const Colour colour = device.available ? Colour::green : Colour::yellow;
    const std::string state = coloured(device.available ? "ready" : "no   ", colour, stdout);
    fmt::print("{:<6}{}  {}\n", device.name, state,
               device.available ? device.description : device.note);
    if (device.available && !device.note.empty()) fmt::print("{:<13}{}\n", "", device.note);
  }
  return kOk;
}

int show_cache(bool clear) {
  const std::string& directory = environment_options().cache_dir;
  const std::string refusal = DiskCache::refuse_directory(directory);
  if (!refusal.empty()) {
    fmt::print(stderr, "sinter: compiled kernels are not kept: {}\n", refusal);
    return kFailed;
  }
  const std::unique_ptr<DiskCache> cache = DiskCache::open(directory);
  const DiskCacheStats stats = cache->stats();
  if (clear) cache->clear();
  fmt::print("{}\n{}{} kernel{}, {}\n", cache->directory(), clear ? "cleared: " : "", stats.entries,
             stats.entries == 1 ? "" : "s", bytes_text(static_cast<double>(stats.bytes)));
  return kOk;
}

}  // namespace

void add_devices_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command =
      app.add_subcommand("devices", "What was found on this machine, what is missing and its cost");
  command->footer("Example:\n  sinter devices");
  command->callback([&invocation] { invocation.run = print_devices; });
}

void add_cache_command(CLI::App& app, Invocation& invocation) {
  auto clear = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("cache", "Where compiled kernels are kept, and how many");
  command->add_flag("--clear", *clear, "Delete them");
  command->footer("Example:\n  sinter cache --clear");
  command->callback(
      [clear, &invocation] { invocation.run = [clear] { return show_cache(*clear); }; });
}

}  // namespace sinter::cli
