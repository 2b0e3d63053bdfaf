// The JSON checker: messages, and agreement with the parser on damaged texts.
#include "src/base/json_syntax.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

namespace sinter {
namespace {

TEST(JsonSyntax, ErrorsNameLineColumnAndWhatWasExpected) {
  const std::pair<const char*, const char*> errors[] = {
      {"", "line 1, column 1: expected a value, found the end of the file"},
      {"{\n  \"a\": 1,\n}", "line 3, column 1: expected a field's name in quotes, found '}'"},
      {"{\"a\" 1}", "line 1, column 6: expected ':', found '1}'"},
      {"{\"a\": 1 \"b\": 2}", "line 1, column 9: expected ',' or '}', found '\"b\":'"},
      {"[1, 2", "line 1, column 6: expected ',' or ']', found the end of the file"},
      {"[1, nonsense]", "line 1, column 5: expected a value, found 'nonsense]'"},
      {"{} {}", "line 1, column 4: expected the end of the file, found '{}'"},
      {"\"abc",
       "line 1, column 5: expected the end of the string, '\"', found the end of the file"},
      {"[1.]", "line 1, column 4: expected a digit, found ']'"},
      {"[1e999]", "line 1, column 2: expected a number that fits 64 bits, found '1e999]'"},
      {"\"\xff\"", "line 1, column 2: expected UTF-8, found '?\"'"},
      {"\"\\x\"", "line 1, column 3: expected one of \"\\/bfnrtu after a backslash, found 'x\"'"},
  };
  for (const auto& [text, error] : errors) EXPECT_EQ(json_syntax_error(text), error) << text;
}

TEST(JsonSyntax, NestingIsBounded) {
  const auto nested = [](int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']');
  };
  EXPECT_EQ(json_syntax_error(nested(kMaxJsonNesting)), "");
  EXPECT_EQ(json_syntax_error(nested(kMaxJsonNesting + 1)),
            "line 1, column 65: it is nested more than 64 levels deep");
  EXPECT_NE(json_syntax_error(std::string(1'000'000, '[')), "");
}

TEST(JsonSyntax, AgreesWithTheParserOnDamagedTexts) {
  const std::string whole =
      "{\"a\": [1, -2.5e+3, true, null, \"\\u00e4\\ud83d\\ude00 \\n \xc3\xa4 \xf0\x9f\x98\x80\"], "
      "\"b\": {}, \"c\": [[], {\"d\": 0}], \"e\": false}\n";
  ASSERT_EQ(json_syntax_error(whole), "");
  const std::string letters = "{}[],:\"\\u0129.eE+-tfn \n\x01\x80\xc3\xff d8";
  std::mt19937 random(1);
  const auto below = [&](std::size_t n) { return random() % n; };
  for (int i = 0; i < 20'000; ++i) {
    std::string text = whole;
    for (std::size_t edits = 1 + below(3); edits > 0; --edits) {
      const std::size_t at = below(text.size());
      const char letter = letters[below(letters.size())];
      if (below(3) == 0)
        text.erase(at, 1 + below(4));
      else if (below(2) == 0)
        text.insert(at, 1, letter);
      else
        text[at] = letter;
    }
    EXPECT_EQ(json_syntax_error(text).empty(), nlohmann::json::accept(text)) << text;
  }
}

}  // namespace
}  // namespace sinter
