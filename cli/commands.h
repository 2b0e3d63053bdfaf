// The tool's commands. Each adds itself and its options to the app and sets `run`, which main()
// calls after parsing: it prints and returns the exit code.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace sinter::cli {

// Exit codes.
inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;  // a case failed, is wrong or slower; another error
inline constexpr int kUsage = 2;   // invalid arguments

struct Invocation {
  std::string command_line;  // as typed
  std::function<int()> run;  // set by the selected command
};

void add_devices_command(CLI::App& app, Invocation& invocation);
void add_suite_command(CLI::App& app, Invocation& invocation);
void add_compare_command(CLI::App& app, Invocation& invocation);
void add_report_command(CLI::App& app, Invocation& invocation);
void add_explain_command(CLI::App& app, Invocation& invocation);
void add_dump_command(CLI::App& app, Invocation& invocation);
void add_tune_command(CLI::App& app, Invocation& invocation);
void add_cache_command(CLI::App& app, Invocation& invocation);
void add_completion_command(CLI::App& app, Invocation& invocation);
void add_help_command(CLI::App& app, Invocation& invocation);

// The whole tool: its name, help and every command.
void add_all_commands(CLI::App& app, Invocation& invocation);

}  // namespace sinter::cli
