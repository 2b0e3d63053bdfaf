// Blocks, names and operands. parse_operations.cpp has a function for every kind of instruction.
#include "src/tile/parse_instructions.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <functional>

#include "src/base/nearest_name.h"
#include "src/tile/renumber.h"
#include "src/tile/verify.h"

namespace sinter::tile {
namespace {

// Limits that keep bad text from costing much time or memory.
constexpr std::int64_t kMostTileElements = std::int64_t{1} << 31;

std::string type_text(const Value& value) {
  if (value.shape.is_scalar()) return std::string(name_of(value.dtype));
  return fmt::format("{}({}, {})", name_of(value.dtype), value.shape.rows, value.shape.cols);
}

// The number in a name such as %12; kNoValue if the name is not a number in canonical form.
ValueId number_of(std::string_view name) {
  ValueId number = kNoValue;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_number = error == std::errc() && end == name.data() + name.size();
  return is_number && fmt::format("{}", number) == name ? number : kNoValue;
}

}  // namespace

DType read_dtype(TokenReader& tokens) {
  const Token token = tokens.next();
  const std::optional<DType> dtype =
      token.kind == Token::Kind::word ? dtype_named(token.text) : std::nullopt;
  if (!dtype)
    tokens.fail(token, "expected a type (f32, f16, bf16, f64, i32, i64, bool), got {}",
                described(token));
  return *dtype;
}

InstructionParser::InstructionParser(TokenReader& tokens, TileProgram& program)
    : tokens_(tokens), program_(program) {
  blocks_.push_back({&program.body, &positions_});
}

bool InstructionParser::begins_here() const {
  const Token& token = tokens_.peek();
  return token.kind == Token::Kind::value ||
         (token.kind == Token::Kind::word && (token.text == "store" || token.text == "loop"));
}

void InstructionParser::parse() {
  if (tokens_.peek().kind == Token::Kind::word && tokens_.peek().text == "store") return store();
  const std::vector<ResultText> results = read_results();
  const Token at = tokens_.peek();
  if (tokens_.take("loop")) return loop(results, at);
  add(operation(results), results);
}

std::vector<InstructionParser::ResultText> InstructionParser::read_results() {
  std::vector<ResultText> results;
  if (tokens_.peek().kind != Token::Kind::value) return results;
  do {
    ResultText result;
    result.name = tokens_.next();
    if (result.name.kind != Token::Kind::value)
      tokens_.fail(result.name, "expected a name such as %x, got {}", described(result.name));
    if (tokens_.take(":")) {
      result.type_at = tokens_.peek();
      result.type = read_type();
    }
    results.push_back(result);
  } while (tokens_.take(","));
  tokens_.expect("=");
  return results;
}

// --- blocks ---

void InstructionParser::add(Parsed parsed, const std::vector<ResultText>& results,
                            std::vector<Position> body) {
  check_results(parsed, results);
  for (std::size_t i = 0; i < results.size(); ++i)
    parsed.instr.results.push_back(define(results[i].name, parsed.results[i]));
  blocks_.back().instrs->push_back(std::move(parsed.instr));
  blocks_.back().positions->push_back({parsed.at, std::move(body)});
}

void InstructionParser::check_results(const Parsed& parsed,
                                      const std::vector<ResultText>& results) const {
  if (results.size() != parsed.results.size())
    tokens_.fail(parsed.at, "{} gives {} value{}, not {}", parsed.at.text, parsed.results.size(),
                 parsed.results.size() == 1 ? "" : "s", results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Value& type = parsed.results[i];
    if (results[i].type && !same_key(*results[i].type, type))
      tokens_.fail(results[i].type_at, "the type is {}, not {}", type_text(type),
                   type_text(*results[i].type));
  }
}

ValueId InstructionParser::new_value(std::string name, const Value& value) {
  names_.push_back(std::move(name));
  return program_.values.push_back(value);
}

ValueId InstructionParser::define(const Token& name, const Value& value) {
  const auto [known, is_new] = values_.try_emplace(std::string(name.text), kNoValue);
  if (!is_new) tokens_.fail(name, "%{} is defined twice", name.text);
  if (!scopes_.empty()) scopes_.back().push_back(known->first);
  return known->second = new_value("%" + std::string(name.text), value);
}

// Printed programs name every value by its number; these numbers are kept. Other programs are
// numbered in order of definition, with a loop's results after its body.
bool InstructionParser::are_numbered() const {
  ById<ValueId, char> seen(names_.size(), 0);
  return std::all_of(names_.begin(), names_.end(), [&](const std::string& name) {
    const ValueId number = name.starts_with('%') ? number_of(name.substr(1)) : kNoValue;
    return seen.contains(number) && ++seen[number] == 1;
  });
}

TileProgram InstructionParser::finish(const Token& kernel) {
  if (const std::optional<Mistake> mistake = find_mistake(program_, names_)) {
    std::vector<Token> tokens;
    const std::function<void(const std::vector<Position>&)> flatten = [&](const auto& block) {
      for (const Position& position : block) {
        tokens.push_back(position.at);
        flatten(position.body);
      }
    };
    flatten(positions_);
    const auto index = static_cast<std::size_t>(mistake->instr);
    tokens_.fail(mistake->instr < 0 ? kernel : tokens.at(index), "{}", mistake->message);
  }
  if (are_numbered()) {
    ById<ValueId, ValueId> numbers;
    for (const std::string& name : names_) numbers.push_back(number_of(name.substr(1)));
    renumber_values(program_, numbers);
  }
  return std::move(program_);
}

// --- types and operands ---

Value InstructionParser::read_type() {
  const Token at = tokens_.peek();
  Value type;
  type.dtype = read_dtype(tokens_);
  if (type.dtype != compute_dtype(type.dtype))
    tokens_.fail(at, "values are f32, f64, i32, i64 or bool: only buffers hold {}",
                 name_of(type.dtype));
  if (tokens_.peek().text == "(") type.shape = read_shape();
  return type;
}

TileShape InstructionParser::read_shape() {
  const Token at = tokens_.peek();
  TileShape shape;
  tokens_.expect("(");
  shape.rows = read_size();
  tokens_.expect(",");
  shape.cols = read_size();
  tokens_.expect(")");
  return joined(at, shape, {});
}

std::int64_t InstructionParser::read_size() {
  const Token token = tokens_.next();
  std::int64_t size = 0;
  const char* const last = token.text.data() + token.text.size();
  const auto [end, error] = std::from_chars(token.text.data(), last, size);
  if (token.kind != Token::Kind::integer || error != std::errc() || end != last || size < 1 ||
      size > kMostTileElements)
    tokens_.fail(token, "expected a size from 1 to 2^31, got {}", described(token));
  return size;
}

TileShape InstructionParser::joined(const Token& at, TileShape a, TileShape b) const {
  const TileShape shape = broadcast(a, b);
  if (shape.rows == 0 || shape.cols == 0)
    tokens_.fail(at, "tiles of ({}, {}) and ({}, {}) do not broadcast", a.rows, a.cols, b.rows,
                 b.cols);
  if (shape.rows > kMostTileElements / shape.cols)
    tokens_.fail(at, "a tile of ({}, {}) has more than 2^31 elements", shape.rows, shape.cols);
  return shape;
}

int InstructionParser::read_buffer() {
  const Token name = tokens_.next();
  std::vector<std::string> names;
  for (const BufferParam& buffer : program_.buffers) {
    if (name.kind == Token::Kind::word && buffer.name == name.text)
      return static_cast<int>(names.size());
    names.push_back(buffer.name);
  }
  if (name.kind != Token::Kind::word)
    tokens_.fail(name, "expected the name of a buffer, got {}", described(name));
  if (names.empty())
    tokens_.fail(name, "there is no buffer '{0}'; declare it: in {0}: f32", name.text);
  tokens_.fail(name, "{}", unknown_name("buffer", name.text, names));
}

InstructionParser::OperandText InstructionParser::read_operand() {
  OperandText operand;
  operand.at = tokens_.peek();
  if (at_number(tokens_))
    operand.number = parse_number(tokens_);
  else
    operand.value = known_value(tokens_.next());
  return operand;
}

std::vector<InstructionParser::OperandText> InstructionParser::read_operands() {
  std::vector<OperandText> operands;
  if (tokens_.at_line_end()) return operands;
  do operands.push_back(read_operand());
  while (tokens_.take(","));
  return operands;
}

ValueId InstructionParser::read_arg(std::optional<DType> dtype) {
  return value_of(read_operand(), dtype);
}

ValueId InstructionParser::value_of(const OperandText& operand, std::optional<DType> dtype) {
  if (operand.value != kNoValue) return operand.value;
  const Literal::Kind kind = operand.number.literal.kind;
  const DType own = kind == Literal::Kind::real      ? DType::f32
                    : kind == Literal::Kind::integer ? DType::i64
                                                     : DType::boolean;
  return number_constant(operand.number, operand.number.dtype.value_or(dtype.value_or(own)));
}

// Added to the outermost block, before the open loops; equal numbers share a constant.
ValueId InstructionParser::number_constant(const NumberText& number, DType dtype) {
  if (dtype != compute_dtype(dtype))
    tokens_.fail(number.at, "values are f32, f64, i32, i64 or bool: only buffers hold {}",
                 name_of(dtype));
  check_holds(tokens_, number, dtype);
  const Scalar scalar = number.exact ? number.literal.value : rounded_number(number.literal, dtype);
  Instr instr;
  instr.real = is_floating(dtype) ? scalar.real : 0;
  instr.integer = is_floating(dtype) ? 0 : scalar.integer;
  const auto [known, is_new] = constants_.try_emplace(
      {dtype, std::bit_cast<std::uint64_t>(instr.real), instr.integer}, kNoValue);
  if (!is_new) return known->second;
  known->second = new_value(constant_text(scalar, dtype), {dtype, {}});
  instr.results = {known->second};
  blocks_.front().instrs->push_back(std::move(instr));
  blocks_.front().positions->push_back({number.at, {}});
  return known->second;
}

ValueId InstructionParser::known_value(const Token& name) const {
  if (name.kind != Token::Kind::value)
    tokens_.fail(name, "expected a value such as %x, got {}", described(name));
  const auto found = values_.find(std::string(name.text));
  if (found == values_.end()) unknown_value(name);
  if (found->second == kNoValue)
    tokens_.fail(name, "%{} is only defined inside its loop", name.text);
  return found->second;
}

void InstructionParser::unknown_value(const Token& name) const {
  std::vector<std::string> names;
  for (const auto& [known, value] : values_)
    if (value != kNoValue) names.push_back(known);
  if (names.empty()) tokens_.fail(name, "%{} is not defined", name.text);
  std::sort(names.begin(), names.end());
  tokens_.fail(name, "%{} is not defined; did you mean %{}?", name.text,
               nearest_name(name.text, names));
}

}  // namespace sinter::tile
