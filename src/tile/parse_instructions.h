// InstructionParser: parses the instructions of a tile program, "%y = exp %x", "store y[%i] = %y",
// and loops with their bodies. Result types are inferred from the arguments.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "src/graph/parse_numbers.h"
#include "src/graph/tokens.h"
#include "src/tile/program.h"

namespace sinter::tile {

// "f16"; UserError for anything else.
DType read_dtype(TokenReader& tokens);

class InstructionParser {
 public:
  // `program` must declare parameters before they are used, and must outlive the parser.
  InstructionParser(TokenReader& tokens, TileProgram& program);

  // Whether the next token begins an instruction.
  bool begins_here() const;
  // Reads one instruction, up to the end of its line.
  void parse();
  // The verified program with its values numbered. Errors not about a particular instruction point
  // to `kernel`.
  TileProgram finish(const Token& kernel);

 private:
  // The left side of a definition: "%y: f32(4, 8)".
  struct ResultText {
    Token name;
    Token type_at;
    std::optional<Value> type;
  };
  // An instruction as written, and the types of its results.
  struct Parsed {
    Token at;  // the operation's name
    Instr instr;
    std::vector<Value> results;
  };
  // Source position of each instruction of a block.
  struct Position {
    Token at;
    std::vector<Position> body;
  };
  struct OpenBlock {
    std::vector<Instr>* instrs;
    std::vector<Position>* positions;
  };
  // A value, or a number that becomes a constant.
  struct OperandText {
    Token at;
    ValueId value = kNoValue;
    NumberText number;
  };

  // One function per instruction code; each parses what follows the operation's name.
  Parsed operation(const std::vector<ResultText>& results);
  void constant(Parsed& parsed, const std::vector<ResultText>& results);
  void scalar(Parsed& parsed);
  void arange(Parsed& parsed);
  void pointwise(Parsed& parsed);
  void cast(Parsed& parsed);
  void broadcast_to(Parsed& parsed);
  void load(Parsed& parsed);
  void reduce(Parsed& parsed);
  void store();
  void loop(const std::vector<ResultText>& results, const Token& at);
  std::vector<Token> loop_header(Parsed& parsed);
  std::vector<Position> loop_body(Parsed& parsed);

  std::vector<ResultText> read_results();
  Value read_type();
  TileShape read_shape();
  std::int64_t read_size();
  int read_buffer();
  OperandText read_operand();
  std::vector<OperandText> read_operands();
  // Reads a value. A plain number becomes a constant of `dtype`, or of its own kind without one.
  ValueId read_arg(std::optional<DType> dtype);
  ValueId known_value(const Token& name) const;
  ValueId value_of(const OperandText& operand, std::optional<DType> dtype);
  ValueId number_constant(const NumberText& number, DType dtype);
  TileShape joined(const Token& at, TileShape a, TileShape b) const;

  // Adds the instruction to the innermost block and names its results.
  void add(Parsed parsed, const std::vector<ResultText>& results, std::vector<Position> body = {});
  void check_results(const Parsed& parsed, const std::vector<ResultText>& results) const;
  ValueId define(const Token& name, const Value& value);
  ValueId new_value(std::string name, const Value& value);
  bool are_numbered() const;
  void number_values();
  [[noreturn]] void unknown_operation(const Token& word) const;
  [[noreturn]] void unknown_value(const Token& name) const;

  const Value& value(ValueId id) const { return program_[id]; }

  TokenReader& tokens_;
  TileProgram& program_;
  std::vector<Position> positions_;
  std::vector<OpenBlock> blocks_;  // the innermost is last
  // By name; kNoValue: defined in a loop that has ended, and out of scope.
  std::unordered_map<std::string, ValueId> values_;
  std::vector<std::vector<std::string>> scopes_;  // names defined in each open loop
  ById<ValueId, std::string> names_;              // "%x", or "0.5" for a number operand
  // Number operands, by dtype, bits of the real number, and integer.
  std::map<std::tuple<DType, std::uint64_t, std::int64_t>, ValueId> constants_;
};

}  // namespace sinter::tile
