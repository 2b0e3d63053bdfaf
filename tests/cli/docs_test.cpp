// docs/COMMAND_LINE.md against the tool: every command has a section whose table lists exactly its
// options; every variable in src/base/options.h is documented.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>

#include "cli/commands.h"

namespace {

using Names = std::set<std::string>;

std::string text_of(const std::string& path) {
  const char* root = std::getenv("SINTER_SOURCE_DIR");
  std::ifstream file(std::string(root ? root : ".") + "/" + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Names matches(const std::string& text, const std::string& pattern) {
  Names names;
  const std::regex regex(pattern);
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it)
    names.insert((*it)[1]);
  return names;
}

// Up to the next heading of its level; empty if there is none.
std::string section(const std::string& page, const std::string& title) {
  const std::string heading = "\n## " + title + "\n";
  const std::size_t start = page.find(heading);
  if (start == std::string::npos) return "";
  const std::size_t end = page.find("\n## ", start + heading.size());
  return page.substr(start, end == std::string::npos ? end : end - start);
}

// From the first column of a section's tables; an option may have several spellings.
Names documented_options(const std::string& section_text) {
  Names names;
  for (const std::string& cell : matches(section_text, "\n\\| (`--[^|]+) \\|"))
    names.merge(matches(cell, "`(--[a-z-]+)`"));
  return names;
}

// The options --help lists, except itself.
Names long_options(const CLI::App& command) {
  Names names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames())
      if (name != "help" && !option->get_group().empty()) names.insert("--" + name);
  return names;
}

class CommandLinePage : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::getenv("SINTER_SOURCE_DIR")) GTEST_SKIP() << "SINTER_SOURCE_DIR is not set";
    page_ = text_of("docs/COMMAND_LINE.md");
    ASSERT_FALSE(page_.empty());
    sinter::cli::add_all_commands(app_, invocation_);
  }

  std::string page_;
  CLI::App app_;
  sinter::cli::Invocation invocation_;
};

TEST_F(CommandLinePage, HasEveryCommandAndNoOther) {
  Names commands;
  for (const CLI::App* command : app_.get_subcommands({})) commands.insert(command->get_name());
  EXPECT_EQ(matches(page_, "\n## sinter ([a-z]+)\n"), commands);
}

TEST_F(CommandLinePage, HasEveryOptionOfEachCommandAndNoOther) {
  for (const CLI::App* command : app_.get_subcommands({})) {
    const std::string text = section(page_, "sinter " + command->get_name());
    EXPECT_EQ(documented_options(text), long_options(*command)) << command->get_name();
  }
  for (const std::string& name : long_options(app_))
    EXPECT_NE(page_.find("sinter " + name), std::string::npos) << name;
}

TEST_F(CommandLinePage, HasEveryVariable) {
  const Names read = matches(text_of("src/base/options.cpp"), "get\\(\"(SINTER_[A-Z_]+)\"\\)");
  EXPECT_EQ(matches(section(page_, "Environment"), "\n\\| `(SINTER_[A-Z_]+)`"), read);
}

TEST_F(CommandLinePage, HasEveryExitCode) {
  for (const char* code : {"| 0 |", "| 1 |", "| 2 |"})
    EXPECT_NE(page_.find(code), std::string::npos) << code;
}

}  // namespace
