// The scanner, with one token of lookahead.
#include "src/graph/tokens.h"

#include <algorithm>

namespace sinter {
namespace {

// Limits that keep bad text from costing much time or memory.
constexpr std::size_t kMostBytes = std::size_t{1} << 24;
constexpr std::size_t kLongestWord = 64;

constexpr std::string_view kMarks = "()[],:=.+-*/";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

}  // namespace

std::string described(const Token& token) {
  if (token.kind == Token::Kind::line_end) return "the end of the line";
  if (token.kind == Token::Kind::end) return "the end of the text";
  const std::string_view sigil = token.kind == Token::Kind::value    ? "%"
                                 : token.kind == Token::Kind::number ? "#"
                                                                     : "";
  return fmt::format("'{}{}'", sigil, token.text.substr(0, kLongestWord));
}

TokenReader::TokenReader(std::string_view text, std::string_view file) : text_(text), file_(file) {
  if (text.size() > kMostBytes)
    fail_at(1, 1,
            fmt::format("the text has {} bytes; at most {} are read", text.size(), kMostBytes));
  token_ = scan();
}

Token TokenReader::next() {
  const Token token = token_;
  token_ = scan();
  return token;
}

bool TokenReader::take(std::string_view mark_or_word) {
  const bool matches = token_.kind == Token::Kind::mark || token_.kind == Token::Kind::word;
  if (!matches || token_.text != mark_or_word) return false;
  next();
  return true;
}

void TokenReader::expect(std::string_view mark_or_word) {
  if (!take(mark_or_word)) fail(token_, "expected '{}', got {}", mark_or_word, described(token_));
}

void TokenReader::fail_at(int line, int column, const std::string& message) const {
  const std::string file = file_.empty() ? "" : std::string(file_) + ":";
  throw UserError(fmt::format("[parse] {}{}:{}: {}", file, line, column, message));
}

// Blanks and comments.
void TokenReader::skip_blanks() {
  while (position_ < text_.size() && is_blank(text_[position_])) ++position_;
  if (text_.substr(position_, 2) != "//") return;
  while (position_ < text_.size() && text_[position_] != '\n') ++position_;
}

std::size_t TokenReader::word_end(std::size_t from) const {
  while (from < text_.size() && (is_letter(text_[from]) || is_digit(text_[from]))) ++from;
  return from;
}

std::size_t TokenReader::digits_end(std::size_t from) const {
  while (from < text_.size() && is_digit(text_[from])) ++from;
  return from;
}

// The token from the current position to `end`, without the first `skipped` characters.
Token TokenReader::token_of(Token::Kind kind, std::size_t end, std::size_t skipped) {
  const Token token{kind, text_.substr(position_ + skipped, end - position_ - skipped), line_,
                    static_cast<int>(position_ - line_start_) + 1};
  if (kind != Token::Kind::real && token.text.size() > kLongestWord)
    fail(token, "names and integers have at most {} characters", kLongestWord);
  position_ = end;
  return token;
}

Token TokenReader::scan_number() {
  if (text_.substr(position_, 2) == "0x")
    return token_of(Token::Kind::bits, word_end(position_), 2);
  std::size_t end = digits_end(position_);
  bool is_real = false;
  if (end + 1 < text_.size() && text_[end] == '.' && is_digit(text_[end + 1])) {
    is_real = true;
    end = digits_end(end + 1);
  }
  if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
    std::size_t exponent = end + 1;
    if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
    if (digits_end(exponent) > exponent) {
      is_real = true;
      end = digits_end(exponent);
    }
  }
  const Token number = token_of(is_real ? Token::Kind::real : Token::Kind::integer, end);
  if (word_end(position_) > position_)
    fail(number, "'{}{}' is no number", number.text.substr(0, kLongestWord),
         text_.substr(position_, std::min(word_end(position_) - position_, kLongestWord)));
  return number;
}

Token TokenReader::scan() {
  skip_blanks();
  if (position_ == text_.size()) return token_of(Token::Kind::end, position_);
  const char first = text_[position_];
  if (first == '\n') {
    const Token token = token_of(Token::Kind::line_end, position_ + 1);
    ++line_;
    line_start_ = position_;
    return token;
  }
  if (is_letter(first)) return token_of(Token::Kind::word, word_end(position_));
  if (is_digit(first)) return scan_number();
  const Token mark{Token::Kind::mark, text_.substr(position_, 1), line_,
                   static_cast<int>(position_ - line_start_) + 1};
  if (first == '%' || first == '#') {
    const std::size_t end = word_end(position_ + 1);
    if (end == position_ + 1) fail(mark, "a name or number must follow {}", first);
    return token_of(first == '%' ? Token::Kind::value : Token::Kind::number, end, 1);
  }
  if (kMarks.find(first) == std::string_view::npos) {
    const bool is_printable = first > ' ' && first < 127;
    fail(mark, "unexpected character {}",
         is_printable ? fmt::format("'{}'", first)
                      : fmt::format("0x{:02x}", static_cast<unsigned char>(first)));
  }
  ++position_;
  return mark;
}

}  // namespace sinter
