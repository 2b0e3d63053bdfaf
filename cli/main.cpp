// The `sinter` tool: parses the command line and runs the command that it names.
// In: argv. Out: text on stdout, errors on stderr, 0 ok, 1 failed, 2 used wrongly.
#include <fmt/format.h>
#include <sinter/error.h>

#include <algorithm>
#include <cstdio>
#include <exception>

#include "cli/commands.h"
#include "src/suite/nearest_name.h"

namespace {

std::string joined(int argc, char** argv) {
  std::string text;
  for (int i = 0; i < argc; ++i) text += (i ? " " : "") + std::string(argv[i]);
  return text;
}

// CLI11 takes a word it does not know for an argument of nobody's: say what may have been meant.
int report_usage(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  const std::string word = argc > 1 ? argv[1] : "";
  const bool known = std::find(names.begin(), names.end(), word) != names.end();
  if (word.empty())
    fmt::print(stderr, "{}", app.help());
  else if (!known && word[0] != '-')
    fmt::print(stderr, "sinter: there is no command '{}'; did you mean {}?\n", word,
               sinter::suite::nearest_name(word, names));
  else
    app.exit(error);
  return sinter::cli::kUsage;
}

int run(const sinter::cli::Invocation& invocation) {
  try {
    return invocation.run();
  } catch (const sinter::UserError& error) {
    fmt::print(stderr, "sinter: {}\n", error.what());
    return sinter::cli::kUsage;
  } catch (const sinter::InternalError& error) {
    fmt::print(stderr, "sinter: this is a bug in Sinter, please report it: {}\n", error.what());
  } catch (const std::exception& error) {
    fmt::print(stderr, "sinter: {}\n", error.what());
  }
  return sinter::cli::kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Fuses tensor programs into a few tuned kernels, and shows what that gains."};
  app.name("sinter");
  app.set_version_flag("--version", "sinter " SINTER_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Example:\n  sinter suite --set quick\n"
      "Every command has its own --help.");
  sinter::cli::Invocation invocation{joined(argc, argv), nullptr};
  sinter::cli::add_devices_command(app, invocation);
  sinter::cli::add_suite_command(app, invocation);
  sinter::cli::add_report_command(app, invocation);
  sinter::cli::add_explain_command(app, invocation);
  sinter::cli::add_dump_command(app, invocation);
  sinter::cli::add_cache_command(app, invocation);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {  // --help, --version
    return app.exit(done);
  } catch (const CLI::ParseError& error) {
    return report_usage(app, error, argc, argv);
  }
  return run(invocation);
}
