// The `sinter` tool: parses the command line and runs the selected command. In: argv. Out: text on
// stdout, errors on stderr; exit code 0 ok, 1 failed, 2 invalid usage.
#include <fmt/format.h>
#include <sinter/error.h>

#include <cstdio>
#include <exception>
#include <sstream>
#include <system_error>

#include "cli/commands.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/usage.h"
#include "src/runtime/interruption.h"

namespace {

using sinter::cli::print_error;

// As typed, without the tool's path, which does not belong in published results.
std::string joined(int argc, char** argv) {
  std::string text = "sinter";
  for (int i = 1; i < argc; ++i) text += " " + std::string(argv[i]);
  return text;
}

int run(const CLI::App& app, const sinter::cli::Invocation& invocation) {
  try {
    for (const CLI::App* command : app.get_subcommands()) sinter::cli::check_words(*command);
    return sinter::cli::finish_output(invocation.run());
  } catch (const sinter::UserError& error) {
    print_error(fmt::format("sinter: {}\n", error.what()));
    return sinter::cli::kUsage;
  } catch (const sinter::InternalError& error) {
    print_error(
        fmt::format("sinter: this is a bug in Sinter, please report it: {}\n", error.what()));
  } catch (const std::system_error& error) {
    if (std::ferror(stdout))  // fmt::print() throws
      return sinter::cli::failed_output(sinter::cli::kOk, error.code().value());
    print_error(fmt::format("sinter: {}\n", error.what()));
  } catch (const std::exception& error) {
    print_error(fmt::format("sinter: {}\n", error.what()));
  }
  return sinter::cli::kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  sinter::clean_up_on_signals();
  sinter::cli::prepare_output();
  CLI::App app;
  sinter::cli::Invocation invocation{joined(argc, argv), nullptr};
  sinter::cli::add_all_commands(app, invocation);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {  // --help, --version
    std::ostringstream text;
    app.exit(done, text);
    std::fputs(text.str().c_str(), stdout);
    return sinter::cli::finish_output(sinter::cli::kOk);
  } catch (const CLI::ParseError& error) {
    print_error(sinter::cli::usage_text(app, error));
    return sinter::cli::kUsage;
  }
  return run(app, invocation);
}
