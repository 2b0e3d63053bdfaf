// Only the suite knows its cases: a compiler that recognises one would measure nothing.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>

#include "src/suite/cases/case.h"

namespace sinter::suite {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool has_word(const std::string& text, const std::string& word) {
  return std::regex_search(text, std::regex("\\b" + word + "\\b"));
}

// Some cases are called like an operation, e.g. softmax.
std::vector<std::string> names_of_no_operation(const fs::path& root) {
  const std::string operations = text_of(root / "include/sinter/ops.h");
  std::vector<std::string> names;
  for (const Case& each : all_cases()) names.push_back(each.name);
  for (const PendingCase& each : pending_cases()) names.push_back(each.name);
  std::erase_if(names, [&](const std::string& name) { return has_word(operations, name); });
  return names;
}

TEST(CaseNames, AreKnownToTheSuiteAlone) {
  const char* source = std::getenv("SINTER_SOURCE_DIR");
  if (!source) GTEST_SKIP() << "SINTER_SOURCE_DIR is not set";
  const fs::path root = source;
  const std::vector<std::string> names = names_of_no_operation(root);
  ASSERT_GT(names.size(), 10u);
  int files = 0;
  for (const char* folder : {"src", "cli", "kernels", "include"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string path = fs::relative(entry.path(), root).generic_string();
      if (!entry.is_regular_file() || path.starts_with("src/suite/")) continue;
      ++files;
      const std::string text = text_of(entry.path());
      for (const std::string& name : names)
        if (text.find(name) != std::string::npos) {
          EXPECT_FALSE(has_word(text, name)) << path << " names the case " << name;
        }
    }
  EXPECT_GT(files, 100);
}

}  // namespace
}  // namespace sinter::suite
