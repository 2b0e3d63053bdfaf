// OperationParser: parses the right side of a definition, "exp %x.transpose(0, 1)". It adds nodes
// with GraphBuilder, after checking everything the builder and verify() would assert.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "src/graph/builder.h"
#include "src/graph/parse_given.h"
#include "src/graph/parse_numbers.h"
#include "src/graph/parse_sizes.h"
#include "src/graph/tokens.h"

namespace sinter {

// ": f32(4, 8)"; both parts are optional.
struct TypeText {
  Token at;
  std::optional<DType> dtype;
  std::optional<Shape> shape;
  std::vector<std::string> sizes;  // see InputText
};

// An operand as written: a value with its views, or a number.
struct OperandText {
  Token at;
  std::optional<Operand> value;
  NumberText number;
  NumberId given = kNoNumber;  // "#lr"
};

// A definition's type and operation word; the operands follow.
struct OperationText {
  Token word;
  TypeText type;
};

class OperationParser {
 public:
  OperationParser(TokenReader& tokens, SizeReader& sizes, Graph& graph)
      : tokens_(tokens),
        sizes_(sizes),
        origins_(graph.origins),
        build_(graph),
        numbers_(tokens, graph.numbers) {}

  NumberParser& numbers() { return numbers_; }

  // Reads the operands and makes the node.
  Operand parse(const OperationText& text);
  // Reads "%x" and the views after it.
  Operand parse_value();
  Operand parse_seen_value();  // perhaps through a padded view
  void define(const Token& name, const Operand& value);

 private:
  const Graph& graph() const { return build_.graph(); }

  Operand input(const OperationText& text);
  Operand constant(const OperationText& text);
  Operand number(const OperationText& text);
  Operand iota(const OperationText& text);
  Operand reduce(const OperationText& text, ReduceKind kind);
  Operand contract(const OperationText& text);
  Operand matmul(const OperationText& text);
  Operand concat(const OperationText& text);
  std::uint32_t parse_axes(int rank);
  Operand pointwise(const OperationText& text, Op op);

  Scalar range_number(DType dtype);
  int parse_axis(int rank);
  OperandText parse_operand();
  Literal literal_of(const OperandText& text) const;
  Scalar typed_value(const NumberText& number, DType dtype) const;
  std::vector<Operand> operands_of(Op op, const std::vector<OperandText>& written,
                                   std::optional<DType> result);
  Shape joined_shape(const OperationText& text, const std::vector<Operand>& operands) const;
  void check_bools(const Token& word, Op op, const std::vector<Operand>& operands) const;
  [[noreturn]] void unknown_operation(const Token& word) const;
  [[noreturn]] void unknown_value(const Token& name) const;

  TokenReader& tokens_;
  SizeReader& sizes_;
  ById<OriginId, Origin>& origins_;
  GraphBuilder build_;
  NumberParser numbers_;
  std::unordered_map<std::string, Operand> values_;
};

}  // namespace sinter
