// `sinter devices` and `sinter cache`: this machine's devices and tools, and the files Sinter keeps
// on it.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/findings.h"
#include "cli/json_output.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "src/base/options.h"
#include "src/runtime/disk_cache.h"
#include "src/tune/tuning_file.h"

namespace sinter::cli {
namespace {

int show_devices(bool json) {
  const Findings findings = find_all();
  if (json)
    print_json(findings_json(findings));
  else
    fmt::print("{}", findings_text(findings, is_terminal(stdout) ? terminal_width(stdout) : 100));
  return kOk;
}

struct CacheArguments {
  bool clear = false;
  bool json = false;
};

std::string tuning_text(const TuningStore& tuning) {
  const std::size_t count = tuning.size();
  if (count == 0) return fmt::format("nothing is tuned; tuned configs go to {}\n", tuning.path());
  return fmt::format("{} tuned config{} in {}\n", count, count == 1 ? "" : "s", tuning.path());
}

std::string kernels_text(const DiskCache& cache, const DiskCacheStats& stats) {
  const std::string limit =
      cache.limit() == 0 ? ", no limit" : fmt::format(" of at most {} MiB", cache.limit() >> 20);
  return fmt::format("{} kernel{}, {}{} (set SINTER_CACHE_LIMIT_MIB to change that)\n",
                     stats.entries, stats.entries == 1 ? "" : "s",
                     bytes_text(static_cast<double>(stats.bytes)), limit);
}

int show_cache(const CacheArguments& arguments) {
  const std::string& directory = environment_options().cache_dir;
  const std::string refusal = DiskCache::refuse_directory(directory);
  if (!refusal.empty()) {
    print_error(fmt::format("sinter: compiled kernels are not kept: {}\n", refusal));
    return kFailed;
  }
  const std::unique_ptr<DiskCache> cache = DiskCache::open(directory);
  const DiskCacheStats stats = cache->stats();
  if (arguments.clear) cache->clear();  // keeps tuned configs, which take minutes to find again
  const TuningStore& tuning = environment_tuning();
  if (arguments.json)
    print_json({{"directory", cache->directory()},
                {"kernels", stats.entries},
                {"bytes", stats.bytes},
                {"limit_bytes", cache->limit() == 0 ? Json(nullptr) : Json(cache->limit())},
                {"cleared", arguments.clear},
                {"tuning", {{"file", tuning.path()}, {"configs", tuning.size()}}}});
  else
    fmt::print("{}\n{}{}", cache->directory(), arguments.clear ? "cleared: " : "",
               kernels_text(*cache, stats));
  if (!arguments.json) fmt::print("{}", tuning_text(tuning));
  return kOk;
}

}  // namespace

void add_devices_command(CLI::App& app, Invocation& invocation) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand(
      "devices", "Show what was found on this machine, what is missing and what that costs");
  command->add_flag("--json", *json, "Print the same as JSON");
  command->footer("Example:\n  sinter devices");
  command->callback(
      [json, &invocation] { invocation.run = [json] { return show_devices(*json); }; });
}

void add_cache_command(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<CacheArguments>();
  CLI::App* command = app.add_subcommand(
      "cache", "Show where compiled kernels and tuned configs are stored, and how many");
  command->add_flag("--clear", arguments->clear, "Delete the kernels");
  command->add_flag("--json", arguments->json, "Print the same as JSON");
  command->footer("Example:\n  sinter cache --clear");
  command->callback([arguments, &invocation] {
    invocation.run = [arguments] { return show_cache(*arguments); };
  });
}

}  // namespace sinter::cli
