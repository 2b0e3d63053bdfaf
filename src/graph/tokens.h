// The tokenizer, and errors that name a position in the text. In: text. Out: a stream of tokens;
// UserError "[parse] my.sinter:3:14: ..." for an invalid token.
#pragma once

#include <fmt/format.h>
#include <sinter/error.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace sinter {

struct Token {
  enum class Kind : std::uint8_t {
    value,     // %x; `text` is the name without %
    number,    // #lr; `text` is the name without #
    word,      // exp
    integer,   // 12
    real,      // 1.5, 1e-7
    bits,      // 0x7ff8
    mark,      // one of ( ) [ ] , : = . + - * /
    line_end,  // a line break
    end,       // of the text
  };
  Kind kind = Kind::end;
  std::string_view text = {};
  int line = 1;
  int column = 1;  // in bytes, from 1
};

// How an error message names a token: "'exp'", "the end of the line".
std::string described(const Token& token);

class TokenReader {
 public:
  // Both must outlive the reader. `file` is named in errors; it may be empty.
  TokenReader(std::string_view text, std::string_view file);

  const Token& peek() const { return token_; }
  Token next();
  // Consumes the next token if it is this mark or word.
  bool take(std::string_view mark_or_word);
  // Consumes the next token, which must be this mark or word.
  void expect(std::string_view mark_or_word);
  bool at_line_end() const {
    return token_.kind == Token::Kind::line_end || token_.kind == Token::Kind::end;
  }

  template <typename... Args>
  [[noreturn]] void fail(const Token& at, fmt::format_string<Args...> format,
                         Args&&... args) const {
    fail_at(at.line, at.column, fmt::format(format, std::forward<Args>(args)...));
  }

  // The result of `f`, which parses nothing; its UserErrors get the token's position.
  template <typename F>
  auto located(const Token& at, const F& f) const {
    try {
      return f();
    } catch (const UserError& error) {
      const std::string_view message = error.what();
      fail(at, "{}", message.substr(message.find("] ") + 2));  // without "[number] "
    }
  }

 private:
  [[noreturn]] void fail_at(int line, int column, const std::string& message) const;
  void skip_blanks();
  Token scan();
  Token scan_number();
  std::size_t word_end(std::size_t from) const;
  std::size_t digits_end(std::size_t from) const;
  Token token_of(Token::Kind kind, std::size_t end, std::size_t skipped = 0);

  std::string_view text_;
  std::string_view file_;
  std::size_t position_ = 0;
  std::size_t line_start_ = 0;
  int line_ = 1;
  Token token_;
};

}  // namespace sinter
