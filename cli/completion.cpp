// `sinter completion`: walks the app and passes its commands to the shell's writer.
#include "cli/completion.h"

#include <cstdio>
#include <memory>

#include "cli/commands.h"

namespace sinter::cli {
namespace {

CompletedOption completed(const CLI::Option& option) {
  CompletedOption result;
  for (const std::string& name : option.get_lnames())
    (result.names.empty() ? result.names : result.aliases).push_back("--" + name);
  for (const std::string& name : option.get_snames()) result.names.push_back("-" + name);
  if (result.names.empty()) result.names.push_back(option.get_name());
  result.description = option.get_description();
  result.takes_value = takes_value(option);
  result.is_list = option.get_delimiter() == ',';
  if (const OptionValues* values = values_of(option)) {
    result.kind = values->kind;
    if (values->words) result.words = values->words();
  }
  return result;
}

CompletedCommand completed(const CLI::App& app, const std::string& name) {
  CompletedCommand result{name, app.get_description(), {}, {}};
  for (const CLI::Option* option : app.get_options())
    (option->nonpositional() ? result.options : result.arguments).push_back(completed(*option));
  return result;
}

std::string script_for(const std::string& shell, const CLI::App& app) {
  const std::vector<CompletedCommand> commands = completed_commands(app);
  if (shell == "bash") return bash_completion(commands);
  return shell == "zsh" ? zsh_completion(commands) : fish_completion(commands);
}

}  // namespace

std::vector<CompletedCommand> completed_commands(const CLI::App& app) {
  std::vector<CompletedCommand> commands{completed(app, "")};
  for (const CLI::App* command : app.get_subcommands({}))
    commands.push_back(completed(*command, command->get_name()));
  return commands;
}

void add_completion_command(CLI::App& app, Invocation& invocation) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "Print a shell completion script");
  command->add_option("shell", *shell, "bash, zsh or fish")->required();
  command->footer(
      "Example:\n"
      "  sinter completion bash > ~/.local/share/bash-completion/completions/sinter\n"
      "  sinter completion zsh > ~/.zfunc/_sinter     (with ~/.zfunc in fpath, before compinit)\n"
      "  sinter completion fish > ~/.config/fish/completions/sinter.fish\n"
      "For the running shell alone: source <(sinter completion bash)");
  command->callback([shell, &app, &invocation] {
    invocation.run = [shell, &app] {
      std::fputs(script_for(*shell, app).c_str(), stdout);
      return kOk;
    };
  });
}

}  // namespace sinter::cli
