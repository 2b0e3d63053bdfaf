// Parses the statements of a kernel: its parameters, "in x: f16", and its instructions.
#include "src/tile/parse.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "src/base/nearest_name.h"
#include "src/tile/parse_instructions.h"
#include "src/tile/verify.h"

namespace sinter::tile {
namespace {

class KernelParser {
 public:
  explicit KernelParser(TokenReader& tokens) : tokens_(tokens) {}

  TileProgram run() {
    at_ = tokens_.peek();
    tokens_.expect("kernel");
    if (!tokens_.at_line_end()) program_.name = read_word("the name of a kernel").text;
    end_line();
    while (tokens_.peek().kind != Token::Kind::end && !at_word("kernel")) statement();
    return instructions_.finish(at_);
  }

 private:
  void statement() {
    if (tokens_.take("in"))
      buffer(false);
    else if (tokens_.take("out"))
      buffer(true);
    else if (tokens_.take("scalar"))
      scalar();
    else if (tokens_.take("caching"))
      caching();
    else if (tokens_.take("separate_ops"))
      program_.separate_ops = true;
    else if (tokens_.take("in_place"))
      program_.in_place = true;
    else if (at_word("mapping"))
      mapping();
    else if (instructions_.begins_here())
      instructions_.parse();
    else if (!tokens_.at_line_end())
      unknown_statement(tokens_.peek());
    end_line();
  }

  bool at_word(std::string_view word) const {
    return tokens_.peek().kind == Token::Kind::word && tokens_.peek().text == word;
  }

  [[noreturn]] void unknown_statement(const Token& token) const {
    if (token.kind == Token::Kind::word && token.text == "yield")
      tokens_.fail(token, "a yield ends the body of a loop; no loop is open");
    if (token.kind != Token::Kind::word)
      tokens_.fail(token, "expected a parameter or an instruction, got {}", described(token));
    const std::vector<std::string> names{"in",       "out",     "scalar", "caching", "separate_ops",
                                         "in_place", "mapping", "store",  "loop",    "kernel"};
    tokens_.fail(token, "{}", unknown_name("statement", token.text, names));
  }

  void end_line() {
    if (!tokens_.at_line_end())
      tokens_.fail(tokens_.peek(), "expected the end of the line, got {}",
                   described(tokens_.peek()));
    tokens_.next();
  }

  Token read_word(std::string_view what) {
    const Token token = tokens_.next();
    if (token.kind != Token::Kind::word)
      tokens_.fail(token, "expected {}, got {}", what, described(token));
    return token;
  }

  // "x: f16"
  Token read_parameter(std::string_view what) {
    const Token name = read_word(what);
    const auto has_name = [&](const auto& each) { return each.name == name.text; };
    if (std::any_of(program_.buffers.begin(), program_.buffers.end(), has_name) ||
        std::any_of(program_.scalars.begin(), program_.scalars.end(), has_name))
      tokens_.fail(name, "there are two parameters called {}", name.text);
    tokens_.expect(":");
    return name;
  }

  void buffer(bool written) {
    const Token name = read_parameter("the name of a buffer");
    const DType dtype = read_dtype(tokens_);
    program_.buffers.push_back({std::string(name.text), dtype, written, tokens_.take("reused")});
  }

  void scalar() {
    const Token name = read_parameter("the name of a scalar");
    ScalarParam param{std::string(name.text), read_dtype(tokens_), 1};
    if (tokens_.take("multiple")) {
      tokens_.expect("of");
      param.multiple_of = read_int();
    }
    param.positive = tokens_.take("positive");
    if (tokens_.take("at")) {
      tokens_.expect("least");
      param.at_least = read_int();
    }
    if (const std::string mistake = scalar_mistake(param); !mistake.empty())
      tokens_.fail(name, "{}", mistake);
    program_.scalars.push_back(std::move(param));
  }

  void caching() {
    const Token word = read_word("what stays in the cache");
    std::vector<std::string> names;
    for (const Caching each :
         {Caching::any, Caching::results, Caching::operands, Caching::nothing}) {
      names.emplace_back(name_of(each));
      if (names.back() != word.text) continue;
      program_.caching = each;
      return;
    }
    tokens_.fail(word, "{}", unknown_name("caching", word.text, names));
  }

  // "mapping threads = 128, vector = 4"
  void mapping() {
    const Token at = tokens_.next();
    do mapping_field(read_word("a field of the mapping"));
    while (tokens_.take(","));
    if (const std::string mistake = mapping_mistake(program_.mapping); !mistake.empty())
      tokens_.fail(at, "{}", mistake);
  }

  void mapping_field(const Token& name) {
    std::vector<std::string> names;
    bool found = false;
    for_each_field<Mapping>([&](const auto& field) {
      names.emplace_back(field.name);
      if (field.name != name.text) return;
      found = true;
      tokens_.expect("=");
      auto& value = program_.mapping.*field.member;
      if constexpr (std::is_same_v<std::decay_t<decltype(value)>, bool>)
        value = read_bool();
      else
        value = read_int();
    });
    if (!found) tokens_.fail(name, "{}", unknown_name("field of the mapping", name.text, names));
  }

  bool read_bool() {
    if (tokens_.take("true")) return true;
    if (!tokens_.take("false"))
      tokens_.fail(tokens_.peek(), "expected true or false, got {}", described(tokens_.peek()));
    return false;
  }

  int read_int() {
    const Token token = tokens_.next();
    int value = 0;
    const char* const last = token.text.data() + token.text.size();
    const auto [end, error] = std::from_chars(token.text.data(), last, value);
    if (token.kind != Token::Kind::integer || error != std::errc() || end != last)
      tokens_.fail(token, "expected an integer below 2^31, got {}", described(token));
    return value;
  }

  TokenReader& tokens_;
  Token at_;  // the word "kernel"
  TileProgram program_;
  InstructionParser instructions_{tokens_, program_};
};

}  // namespace

std::vector<TileProgram> parse_tile_programs(std::string_view text, std::string_view file) {
  TokenReader tokens(text, file);
  std::vector<TileProgram> programs;
  for (;;) {
    while (tokens.peek().kind == Token::Kind::line_end) tokens.next();
    if (tokens.peek().kind == Token::Kind::end) return programs;
    programs.push_back(KernelParser(tokens).run());
  }
}

TileProgram parse_tile_program(std::string_view text, std::string_view file) {
  TokenReader tokens(text, file);
  while (tokens.peek().kind == Token::Kind::line_end) tokens.next();
  TileProgram program = KernelParser(tokens).run();
  if (tokens.peek().kind != Token::Kind::end)
    tokens.fail(tokens.peek(), "the text has a second kernel; expected one");
  return program;
}

}  // namespace sinter::tile
