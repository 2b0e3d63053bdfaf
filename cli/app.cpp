// The whole tool as a CLI11 app, used by main(), completion and tests.
#include "cli/commands.h"

namespace sinter::cli {

void add_all_commands(CLI::App& app, Invocation& invocation) {
  app.description("Fuses tensor programs into a few tuned kernels, and shows what that gains.");
  app.name("sinter");
  app.set_version_flag("--version", "sinter " SINTER_VERSION, "Print the version and exit");
  app.require_subcommand(1);
  app.footer(
      "Example:\n  sinter suite --set quick\n\n"
      "Exit codes:\n"
      "  0  all went well\n"
      "  1  something failed: a case, a wrong result, slower than what it was compared with\n"
      "  2  used wrongly: an unknown command, option or name\n\n"
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
