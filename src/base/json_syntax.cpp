// A recursive-descent checker for RFC 8259 that builds nothing.
#include "src/base/json_syntax.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "src/base/printable.h"

namespace sinter {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_hex_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// Length of the UTF-8 sequence that `text` starts with; 0 if it is invalid.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xc0u) == 0x80u; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return continues(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool is_overlong = first == 0xe0 && byte(1) < 0xa0;
    const bool is_surrogate = first == 0xed && byte(1) >= 0xa0;
    return continues(1) && continues(2) && !is_overlong && !is_surrogate ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool is_overlong = first == 0xf0 && byte(1) < 0x90;
    const bool is_too_large = first == 0xf4 && byte(1) >= 0x90;
    const bool is_whole = continues(1) && continues(2) && continues(3);
    return is_whole && !is_overlong && !is_too_large ? 4 : 0;
  }
  return 0;
}

class JsonChecker {
 public:
  explicit JsonChecker(std::string_view text) : text_(text) {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;  // a byte order mark
  }

  std::string error() {
    if (value(0)) {
      skip_space();
      if (at_ < text_.size()) fail("the end of the file");
    }
    return error_;
  }

 private:
  // Each returns false after an error.
  bool value(int depth) {
    skip_space();
    const char c = peek();
    if (c == '{' || c == '[') {
      if (depth == kMaxJsonNesting)
        return fail_with(fmt::format("it is nested more than {} levels deep", kMaxJsonNesting));
      return c == '{' ? object(depth + 1) : array(depth + 1);
    }
    if (c == '"') return string();
    if (c == '-' || is_digit(c)) return number();
    for (const std::string_view word : {"true", "false", "null"})
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return true;
      }
    return fail("a value");
  }

  bool object(int depth) {
    ++at_;
    if (accept('}')) return true;
    while (true) {
      skip_space();
      if (peek() != '"') return fail("a field's name in quotes");
      if (!string()) return false;
      if (!accept(':')) return fail("':'");
      if (!value(depth)) return false;
      if (accept('}')) return true;
      if (!accept(',')) return fail("',' or '}'");
    }
  }

  bool array(int depth) {
    ++at_;
    if (accept(']')) return true;
    while (true) {
      if (!value(depth)) return false;
      if (accept(']')) return true;
      if (!accept(',')) return fail("',' or ']'");
    }
  }

  bool string() {
    ++at_;
    while (peek() != '"') {
      if (at_ == text_.size() || static_cast<unsigned char>(peek()) < 0x20)
        return fail("the end of the string, '\"'");
      if (peek() == '\\') {
        if (!escape()) return false;
        continue;
      }
      const std::size_t length = utf8_length(text_.substr(at_));
      if (length == 0) return fail("UTF-8");
      at_ += length;
    }
    ++at_;
    return true;
  }

  bool escape() {
    ++at_;
    const char c = peek();
    if (c != 'u') {
      if (std::string_view("\"\\/bfnrt").find(c) == std::string_view::npos || at_ == text_.size())
        return fail("one of \"\\/bfnrtu after a backslash");
      ++at_;
      return true;
    }
    const unsigned code = hex_code();
    const bool is_low = code >= 0xdc00 && code <= 0xdfff;
    const bool is_high = code >= 0xd800 && code <= 0xdbff;
    if (code == kNoCode) return fail("four hexadecimal digits");
    if (is_low) return fail("a high surrogate before a low one");
    if (!is_high) return true;
    unsigned low = kNoCode;
    if (text_.substr(at_).starts_with("\\u")) {
      ++at_;
      low = hex_code();
    }
    return (low >= 0xdc00 && low <= 0xdfff) || fail("a low surrogate after a high one");
  }

  static constexpr unsigned kNoCode = 0x10000;

  // At the 'u' of \uXXXX: skips it.
  unsigned hex_code() {
    const std::string_view digits = text_.substr(at_ + 1, 4);
    if (digits.size() < 4 || !std::all_of(digits.begin(), digits.end(), is_hex_digit))
      return kNoCode;
    at_ += 5;
    return static_cast<unsigned>(std::strtoul(std::string(digits).c_str(), nullptr, 16));
  }

  bool number() {
    const std::size_t start = at_;
    if (peek() == '-') ++at_;
    if (peek() == '0')
      ++at_;
    else if (!digits())
      return false;
    if (peek() == '.') {
      ++at_;
      if (!digits()) return false;
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      if (!digits()) return false;
    }
    const std::string token(text_.substr(start, at_ - start));
    if (std::isfinite(std::strtod(token.c_str(), nullptr))) return true;
    at_ = start;
    return fail("a number that fits 64 bits");
  }

  bool digits() {
    if (!is_digit(peek())) return fail("a digit");
    while (is_digit(peek())) ++at_;
    return true;
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  bool accept(char c) {
    skip_space();
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  bool fail(std::string_view expected) {
    const std::string_view rest = text_.substr(at_);
    const std::string found =
        rest.empty() ? "the end of the file"
                     : "'" + printable(rest.substr(0, rest.find_first_of(" \t\r\n", 1)), 20) + "'";
    return fail_with(fmt::format("expected {}, found {}", expected, found));
  }

  bool fail_with(std::string_view what) {
    const std::string_view before = text_.substr(0, at_);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t column = at_ - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
    error_ = fmt::format("line {}, column {}: {}", line, column, what);
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string error_;
};

}  // namespace

std::string json_syntax_error(std::string_view text) { return JsonChecker(text).error(); }

}  // namespace sinter
