// Errors distinguish the caller's mistakes from ours; warnings appear once.
#include "src/base/check.h"

#include <gtest/gtest.h>

#include <vector>

namespace sinter {
namespace {

std::vector<std::string> g_warnings;

TEST(CheckTest, UserErrorStartsWithTheOperation) {
  try {
    fail_user("matmul", "inner dimensions differ: {} and {}", 8, 9);
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "[matmul] inner dimensions differ: 8 and 9");
  }
}

TEST(CheckTest, AssertionNamesConditionPlaceAndDetail) {
  try {
    SINTER_ASSERT(1 + 1 == 3, "with {}", 42);
    FAIL();
  } catch (const InternalError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("1 + 1 == 3 does not hold at "), std::string::npos) << text;
    EXPECT_NE(text.find("check_test.cpp:"), std::string::npos) << text;
    EXPECT_NE(text.find(": with 42; please report it"), std::string::npos) << text;
  }
  EXPECT_NO_THROW(SINTER_ASSERT(true));
}

TEST(CheckTest, AWarningIsGivenOnce) {
  g_warnings.clear();
  const WarningHandler before =
      set_warning_handler([](const std::string& message) { g_warnings.push_back(message); });
  warn_once("the cache is full");
  warn_once("the cache is full");
  warn_once("the cache is slow");
  set_warning_handler(before);
  EXPECT_EQ(g_warnings, std::vector<std::string>({"the cache is full", "the cache is slow"}));
}

}  // namespace
}  // namespace sinter
