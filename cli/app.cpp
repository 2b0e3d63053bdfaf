// The whole tool as a CLI11 app, used by main(), completion and tests.
#include "cli/commands.h"

namespace sinter::cli {

void add_all_commands(CLI::App& app, Invocation& invocation) {
  app.description("Compiles tensor programs into fused, tuned kernels and measures the gain.");
  app.name("sinter");
  app.set_version_flag("--version", "sinter " SINTER_VERSION, "Print the version and exit");
  app.require_subcommand(1);
  app.footer(
      "Example:\n  sinter suite --set quick\n\n"
      "Exit codes:\n"
      "  0  success\n"
      "  1  something failed: a case, a wrong result, slower than the compared run\n"
      "  2  invalid usage: an unknown command, option or name\n\n"
      "sinter help COMMAND has a command's options; sinter completion bash|zsh|fish helps to "
      "type.");
  add_devices_command(app, invocation);
  add_suite_command(app, invocation);
  add_compare_command(app, invocation);
  add_report_command(app, invocation);
  add_explain_command(app, invocation);
  add_dump_command(app, invocation);
  add_tune_command(app, invocation);
  add_cache_command(app, invocation);
  add_completion_command(app, invocation);
  add_help_command(app, invocation);
}

}  // namespace sinter::cli
