// Completion in real shells: the script is sourced by bash, zsh and fish (those installed), which
// then complete.
#include "cli/completion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "cli/commands.h"
#include "tests/cli/tool.h"

namespace {

using Words = std::vector<std::string>;

Words lines_of(const std::string& text) {
  Words lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (!line.empty()) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

bool has(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

class Completion : public sinter::test::ToolTest {
 protected:
  void write_script(const std::string& shell_name) {
    if (shell("command -v " + shell_name).code != 0)
      GTEST_SKIP() << shell_name << " is not installed";
    script_ = (folder_ / ("script." + shell_name)).string();
    ASSERT_EQ(run("completion " + shell_name + " > '" + script_ + "'").code, 0);
  }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }

  // `words` as bash splits them; the last one is completed.
  Words bash(const std::string& words) const {
    const std::string file =
        write("ask.bash", "source '" + script_ + "'\ncd '" + folder_.string() + "'\nCOMP_WORDS=(" +
                              words +
                              ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_sinter\n"
                              "printf '%s\\n' \"${COMPREPLY[@]}\"\n");
    const auto outcome = shell("bash --norc --noprofile '" + file + "' 2>&1");
    EXPECT_EQ(outcome.code, 0) << outcome.text;
    return lines_of(outcome.text);
  }
  // The whole line as typed. Descriptions, after a tab, are removed.
  Words fish(const std::string& line) const {
    const auto outcome = shell("cd '" + folder_.string() + "' && HOME='" + folder_.string() +
                               "' fish --no-config -c \"source '" + script_ + "'; complete -C '" +
                               line + "'\" 2>&1");
    EXPECT_EQ(outcome.code, 0) << outcome.text;
    Words words = lines_of(outcome.text);
    for (std::string& word : words) word = word.substr(0, word.find('\t'));
    return words;
  }

  std::string script_;
};

TEST_F(Completion, BashCompletesCommandsAndOptions) {
  write_script("bash");
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_EQ(bash("sinter su"), Words{"suite"});
  EXPECT_EQ(bash("sinter ''"), (Words{"cache", "compare", "completion", "devices", "dump",
                                      "explain", "help", "report", "suite", "tune"}));
  EXPECT_EQ(bash("sinter --v"), Words{"--version"});
  EXPECT_EQ(bash("sinter suite --sh"), Words{"--shapes"});
  EXPECT_EQ(bash("sinter explain --sh"), Words{"--shape"}) << "one spelling is offered";
  EXPECT_EQ(bash("sinter dump softmax --st"), Words{"--stage"});
  EXPECT_TRUE(has(bash("sinter suite ''"), "--cases"));
  EXPECT_EQ(bash("sinter nothing --x"), Words{});
}

TEST_F(Completion, BashCompletesValues) {
  write_script("bash");
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_EQ(bash("sinter explain layer"), Words{"layernorm"});
  EXPECT_EQ(bash("sinter explain --dtype f32 layer"), Words{"layernorm"});
  EXPECT_FALSE(has(bash("sinter explain softmax ''"), "layernorm")) << "it takes one case";
  EXPECT_EQ(bash("sinter explain softmax --dtype b"), Words{"bf16"});
  EXPECT_EQ(bash("sinter suite --set ''"), (Words{"grid", "quick", "random"}));
  EXPECT_EQ(bash("sinter suite --set = q"), Words{"quick"}) << "--set=q, as bash splits it";
  EXPECT_EQ(bash("sinter suite --set ="), (Words{"grid", "quick", "random"}));
  EXPECT_EQ(bash("sinter suite --set = quick --li"), Words{"--list"});
  EXPECT_TRUE(has(bash("sinter suite --device ''"), "cpu"));
  EXPECT_EQ(bash("sinter suite --shape 65"), Words{"65536x128"}) << "and both are completed";
  EXPECT_EQ(bash("sinter explain softmax --shapes 65"), Words{"65536x128"});
  EXPECT_EQ(bash("sinter help su"), Words{"suite"});
  EXPECT_EQ(bash("sinter completion f"), Words{"fish"});
  EXPECT_EQ(bash("sinter suite --seconds ''"), Words{});
}

TEST_F(Completion, BashCompletesTheLastOfAList) {
  write_script("bash");
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_EQ(bash("sinter suite --cases softmax,layer"), Words{"softmax,layernorm"});
  const Words next = bash("sinter suite --cases softmax,");
  EXPECT_TRUE(has(next, "softmax,bias_gelu"));
  EXPECT_FALSE(has(next, "softmax,softmax")) << "it is in the list already";
  EXPECT_EQ(bash("sinter suite --dtype f32,f1"), Words{"f32,f16"});
}

TEST_F(Completion, BashCompletesFiles) {
  write_script("bash");
  if (IsSkipped() || HasFatalFailure()) return;
  std::filesystem::create_directory(folder_ / "some folder");
  write("some file", "");
  EXPECT_EQ(bash("sinter suite --out some"), Words{"some folder"}) << "just folders";
}

TEST_F(Completion, FishCompletes) {
  write_script("fish");
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_EQ(fish("sinter su"), Words{"suite"});
  EXPECT_EQ(fish("sinter suite --sh"), Words{"--shapes"});
  EXPECT_EQ(fish("sinter explain layer"), Words{"layernorm"});
  EXPECT_EQ(fish("sinter suite --set q"), Words{"quick"});
  EXPECT_EQ(fish("sinter suite --cases softmax,layer"), Words{"softmax,layernorm"});
}

// zsh completes only in an interactive shell, so one runs on a pseudo-terminal.
TEST_F(Completion, ZshCompletes) {
  write_script("zsh");
  if (IsSkipped() || HasFatalFailure()) return;
  const std::string file = write("ask.zsh", R"zsh(
zmodload zsh/zpty
ask() {
  zpty shell zsh -f -i
  zpty -w shell "PROMPT= ; autoload -Uz compinit; compinit -u -D; source $1; print -r -- READY''NOW"
  zpty -r shell text '*READYNOW*'
  zpty -w -n shell "$2"$'\t'
  zpty -w -n shell $'\x01print -r -- "LINE<\x05>"\n'
  zpty -r shell text $'*\nLINE<*>*'
  print -r -- "$text"
  zpty -d shell
}
ask "$@"
)zsh");
  const auto completed = [&](const std::string& line) {
    return shell("timeout 60 zsh -f '" + file + "' '" + script_ + "' '" + line + "' 2>&1").text;
  };
  const auto expect_line = [&](const std::string& typed, const std::string& line) {
    const std::string text = completed(typed);
    EXPECT_NE(text.find("\nLINE<" + line), std::string::npos) << text;
  };
  expect_line("sinter su", "sinter suite>");
  expect_line("sinter suite --sha", "sinter suite --shapes");
  expect_line("sinter explain layer", "sinter explain layernorm>");
  expect_line("sinter suite --set q", "sinter suite --set quick>");
  expect_line("sinter suite --cases softmax,layer", "sinter suite --cases softmax,layernorm");
}

TEST(CompletionTable, SaysOfEveryOptionWhatItsValueMayBe) {
  CLI::App app;
  sinter::cli::Invocation invocation;
  sinter::cli::add_all_commands(app, invocation);
  for (const CLI::App* command : app.get_subcommands({}))
    for (const CLI::Option* option : command->get_options())
      if (sinter::cli::takes_value(*option)) {
        EXPECT_NE(sinter::cli::values_of(*option), nullptr)
            << command->get_name() << " " << option->get_name()
            << " takes a value: give it a row in cli/option_values.cpp";
      }
}

TEST(CompletionTable, EveryListOfWordsHasSome) {
  for (const sinter::cli::OptionValues& row : sinter::cli::all_option_values())
    if (row.kind == sinter::cli::ValueKind::words) {
      ASSERT_NE(row.words, nullptr) << row.name;
      EXPECT_FALSE(row.words().empty()) << row.name;
    }
}

TEST_F(Completion, EveryStageOfTheTableCanBeDumped) {
  for (const sinter::cli::OptionValues& row : sinter::cli::all_option_values()) {
    if (row.name != "--stage") continue;
    for (const std::string& stage : row.words()) {
      // NVRTC and NVIDIA's tools may be missing, which is not invalid usage.
      const bool is_nvidias = stage == "ptx" || stage == "sass";
      const int code = run("dump softmax --shape 33x65 " +
                           std::string(is_nvidias ? "--device cuda " : "") + "--stage " + stage)
                           .code;
      EXPECT_LE(code, is_nvidias ? sinter::cli::kFailed : sinter::cli::kOk) << stage;
    }
  }
}

}  // namespace
