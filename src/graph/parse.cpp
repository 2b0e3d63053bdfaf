// Statements: "sizes rows = 4", "%y: f32(4, 8) = exp %x", "return %y".
#include "src/graph/parse.h"

#include <utility>

#include "src/graph/parse_operations.h"

namespace sinter {
namespace {

class Parser {
 public:
  Parser(std::string_view text, const SizeValues& given, std::string_view file)
      : tokens_(text, file), sizes_(tokens_, given) {}

  ParsedProgram run() {
    while (program_.graph.outputs.empty()) {
      if (tokens_.peek().kind == Token::Kind::end)
        tokens_.fail(tokens_.peek(), "the program returns nothing; it ends with return %y");
      statement();
    }
    while (tokens_.peek().kind == Token::Kind::line_end) tokens_.next();
    if (tokens_.peek().kind != Token::Kind::end)
      tokens_.fail(tokens_.peek(), "nothing may follow return");
    sizes_.check_given();
    program_.sizes = sizes_.declared();
    return std::move(program_);
  }

 private:
  const Graph& graph() const { return program_.graph; }

  void statement() {
    if (tokens_.peek().kind == Token::Kind::value) {
      definition();
    } else if (tokens_.peek().kind == Token::Kind::number) {
      operations_.numbers().parse_definition();
    } else if (tokens_.take("guard")) {
      operations_.numbers().parse_guard();
    } else if (tokens_.take("sizes")) {
      sizes_.read_declarations();
    } else if (tokens_.take("return")) {
      do program_.graph.outputs.push_back(operations_.parse_value());
      while (tokens_.take(","));
    } else if (!tokens_.at_line_end()) {
      tokens_.fail(tokens_.peek(), "expected %name, #name, sizes or return, got {}",
                   described(tokens_.peek()));
    }
    if (!tokens_.at_line_end())
      tokens_.fail(tokens_.peek(), "expected the end of the line, got {}",
                   described(tokens_.peek()));
    tokens_.next();
  }

  void definition() {
    const Token name = tokens_.next();
    TypeText type;
    if (tokens_.take(":")) type = parse_type();
    tokens_.expect("=");
    const bool is_view = tokens_.peek().kind == Token::Kind::value;
    const std::size_t inputs = graph().inputs.size();
    const Operand value =
        is_view ? operations_.parse_value() : operations_.parse({tokens_.next(), type});
    if (graph().inputs.size() > inputs)
      program_.inputs.push_back({std::string(name.text), type.sizes});
    check_type(type, value);
    operations_.define(name, value);
  }

  TypeText parse_type() {
    TypeText type;
    type.at = tokens_.next();
    type.dtype = dtype_named(type.at.text);
    if (type.at.kind != Token::Kind::word || !type.dtype)
      tokens_.fail(type.at, "expected a type (f32, f16, bf16, f64, i32, i64, bool), got {}",
                   described(type.at));
    if (!(tokens_.peek().text == "(")) return type;
    type.shape = sizes_.shape(&type.sizes);
    return type;
  }

  void check_type(const TypeText& type, const Operand& value) const {
    const DType dtype = graph().dtype(value);
    if ((!type.dtype || *type.dtype == dtype) && (!type.shape || *type.shape == value.view.shape))
      return;
    tokens_.fail(type.at, "the type is {}{}, not {}{}", name_of(dtype), to_string(value.view.shape),
                 name_of(*type.dtype), type.shape ? to_string(*type.shape) : "");
  }

  TokenReader tokens_;
  SizeReader sizes_;
  ParsedProgram program_;
  OperationParser operations_{tokens_, sizes_, program_.graph};
};

}  // namespace

ParsedProgram parse_program(std::string_view text, const SizeValues& sizes, std::string_view file) {
  return Parser(text, sizes, file).run();
}

Graph parse_graph(std::string_view text, const SizeValues& sizes, std::string_view file) {
  return parse_program(text, sizes, file).graph;
}

}  // namespace sinter
