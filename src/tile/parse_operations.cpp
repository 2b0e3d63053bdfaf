// One function per kind of instruction.
#include <algorithm>

#include "src/base/nearest_name.h"
#include "src/tile/parse_instructions.h"

namespace sinter::tile {
namespace {

constexpr std::size_t kDeepestLoop = 64;

constexpr ReduceKind kReduceKinds[] = {
#define SINTER_REDUCTION(name, identity, combine, dtype, finish) ReduceKind::name,
#include <sinter/reductions.def>
#undef SINTER_REDUCTION
};

// The pointwise ops of the op table.
constexpr int kFirstOp = static_cast<int>(Op::iota) + 1;
constexpr int kLastOp = static_cast<int>(Op::cast) - 1;

}  // namespace

InstructionParser::Parsed InstructionParser::operation(const std::vector<ResultText>& results) {
  Parsed parsed;
  parsed.at = tokens_.next();
  const std::string_view word = parsed.at.kind == Token::Kind::word ? parsed.at.text : "";
  if (word == "constant") {
    constant(parsed, results);
  } else if (word == "scalar") {
    scalar(parsed);
  } else if (word == "program_id") {
    parsed.instr.code = Code::program_id;
    parsed.results = {{DType::i64, {}}};
  } else if (word == "arange") {
    arange(parsed);
  } else if (word == "cast") {
    cast(parsed);
  } else if (word == "load") {
    load(parsed);
  } else if (word == "broadcast") {
    broadcast_to(parsed);
  } else if (word == "reduce") {
    reduce(parsed);
  } else {
    pointwise(parsed);
  }
  return parsed;
}

void InstructionParser::unknown_operation(const Token& word) const {
  if (word.kind != Token::Kind::word)
    tokens_.fail(word, "expected an operation, got {}", described(word));
  if (word.text == "store") tokens_.fail(word, "a store gives no value: store y[%i] = %y");
  std::vector<std::string> names{"constant", "scalar",    "program_id", "arange", "cast",
                                 "load",     "broadcast", "reduce",     "loop"};
  for (int i = kFirstOp; i <= kLastOp; ++i) names.emplace_back(name_of(static_cast<Op>(i)));
  tokens_.fail(word, "there is no operation '{}'; did you mean {}?", word.text,
               nearest_name(word.text, names));
}

void InstructionParser::constant(Parsed& parsed, const std::vector<ResultText>& results) {
  OperandText operand;
  operand.number = parse_number(tokens_);
  if (operand.number.dtype)
    tokens_.fail(operand.number.at, "a constant's type is written before '='");
  const Literal::Kind kind = operand.number.literal.kind;
  DType dtype = kind == Literal::Kind::real      ? DType::f32
                : kind == Literal::Kind::integer ? DType::i64
                                                 : DType::boolean;
  if (!results.empty() && results[0].type) dtype = results[0].type->dtype;
  check_holds(tokens_, operand.number, dtype);
  const Scalar value = operand.number.exact ? operand.number.literal.value
                                            : rounded_number(operand.number.literal, dtype);
  if (is_floating(dtype))
    parsed.instr.real = value.real;
  else
    parsed.instr.integer = value.integer;
  parsed.results = {{dtype, {}}};
}

void InstructionParser::scalar(Parsed& parsed) {
  const Token name = tokens_.next();
  if (name.kind != Token::Kind::word)
    tokens_.fail(name, "expected the name of a scalar parameter, got {}", described(name));
  std::vector<std::string> names;
  for (const ScalarParam& param : program_.scalars) names.push_back(param.name);
  const auto found = std::find(names.begin(), names.end(), name.text);
  if (names.empty())
    tokens_.fail(name, "there is no scalar '{0}'; declare it: scalar {0}: i64", name.text);
  if (found == names.end()) tokens_.fail(name, "{}", unknown_name("scalar", name.text, names));
  parsed.instr.code = Code::scalar;
  parsed.instr.index = static_cast<int>(found - names.begin());
  parsed.results = {{program_.scalars[parsed.instr.index].dtype, {}}};
}

void InstructionParser::arange(Parsed& parsed) {
  const Token axis = tokens_.next();
  if (axis.kind != Token::Kind::word || (axis.text != "rows" && axis.text != "cols"))
    tokens_.fail(axis, "expected rows or cols, got {}", described(axis));
  const std::int64_t count = read_size();
  const bool is_rows = axis.text == "rows";
  parsed.instr.code = Code::arange;
  parsed.instr.axis = is_rows ? Axis::rows : Axis::cols;
  parsed.results = {{DType::i64, is_rows ? TileShape{count, 1} : TileShape{1, count}}};
}

void InstructionParser::pointwise(Parsed& parsed) {
  const Token& word = parsed.at;
  int op = kFirstOp;
  while (op <= kLastOp &&
         (word.kind != Token::Kind::word || name_of(static_cast<Op>(op)) != word.text))
    ++op;
  if (op > kLastOp) unknown_operation(word);
  parsed.instr.code = Code::pointwise;
  parsed.instr.op = static_cast<Op>(op);
  const std::vector<OperandText> written = read_operands();
  const int arity = info(parsed.instr.op).arity;
  if (static_cast<int>(written.size()) != arity)
    tokens_.fail(word, "{} takes {} operand{}, got {}", word.text, arity, arity == 1 ? "" : "s",
                 written.size());
  std::vector<WrittenOperand> operands;
  for (const OperandText& each : written)
    operands.push_back({each.value != kNoValue ? value(each.value).dtype : each.number.dtype,
                        each.number.literal});
  const std::vector<Constant> plain = plain_constants(parsed.instr.op, operands, std::nullopt);
  TileShape shape;
  std::vector<DType> dtypes;
  for (std::size_t i = 0; i < written.size(); ++i) {
    const ValueId arg = value_of(written[i], plain[i].dtype);
    parsed.instr.args.push_back(arg);
    dtypes.push_back(value(arg).dtype);
    shape = joined(written[i].at, shape, value(arg).shape);
  }
  const OpTypes types = op_types(parsed.instr.op, dtypes);
  for (std::size_t i = 0; i < written.size(); ++i)
    if (types.operands[i] != dtypes[i])
      tokens_.fail(written[i].at, "{} takes {} here, not {}; cast it", word.text,
                   name_of(types.operands[i]), name_of(dtypes[i]));
  if (!is_defined_on(parsed.instr.op, dtypes.back()))
    tokens_.fail(word, "there is no {} of {}", word.text, name_of(dtypes.back()));
  parsed.results = {{types.result, shape}};
}

void InstructionParser::cast(Parsed& parsed) {
  const ValueId arg = read_arg(std::nullopt);
  tokens_.expect("to");
  parsed.instr.code = Code::cast;
  parsed.instr.args = {arg};
  parsed.instr.storage = read_dtype(tokens_);
  parsed.results = {{compute_dtype(parsed.instr.storage), value(arg).shape}};
}

void InstructionParser::broadcast_to(Parsed& parsed) {
  const ValueId arg = read_arg(std::nullopt);
  tokens_.expect("to");
  parsed.instr.code = Code::broadcast;
  parsed.instr.args = {arg};
  parsed.results = {{value(arg).dtype, read_shape()}};
}

void InstructionParser::load(Parsed& parsed) {
  parsed.instr.code = Code::load;
  parsed.instr.index = read_buffer();
  const DType dtype = compute_dtype(program_.buffers[parsed.instr.index].dtype);
  tokens_.expect("[");
  const ValueId offsets = read_arg(DType::i64);
  tokens_.expect("]");
  parsed.instr.args = {offsets, kNoValue, kNoValue};
  TileShape shape = value(offsets).shape;
  const Token at = tokens_.peek();
  if (tokens_.take("where")) {
    parsed.instr.args[1] = read_arg(DType::boolean);
    if (tokens_.take("else")) parsed.instr.args[2] = read_arg(dtype);
    shape = joined(at, shape, value(parsed.instr.args[1]).shape);
  }
  parsed.results = {{dtype, shape}};
}

void InstructionParser::store() {
  Parsed parsed;
  parsed.at = tokens_.next();
  parsed.instr.code = Code::store;
  parsed.instr.index = read_buffer();
  const DType dtype = compute_dtype(program_.buffers[parsed.instr.index].dtype);
  tokens_.expect("[");
  const ValueId offsets = read_arg(DType::i64);
  tokens_.expect("]");
  tokens_.expect("=");
  const ValueId stored = read_arg(dtype);
  const ValueId mask = tokens_.take("where") ? read_arg(DType::boolean) : kNoValue;
  parsed.instr.args = {offsets, stored, mask};
  add(std::move(parsed), {});
}

void InstructionParser::reduce(Parsed& parsed) {
  const Token kind = tokens_.next();
  std::vector<std::string> names;
  for (const ReduceKind each : kReduceKinds) names.emplace_back(name_of(each));
  const auto found = std::find(names.begin(), names.end(), kind.text);
  if (kind.kind != Token::Kind::word)
    tokens_.fail(kind, "expected a reduction such as sum, got {}", described(kind));
  if (found == names.end()) tokens_.fail(kind, "{}", unknown_name("reduction", kind.text, names));
  parsed.instr.code = Code::reduce;
  parsed.instr.reduce_kind = kReduceKinds[found - names.begin()];
  const std::vector<OperandText> written = read_operands();
  const std::size_t count = is_arg(parsed.instr.reduce_kind) ? 2 : 1;
  if (written.size() != count)
    tokens_.fail(kind, "reduce {} takes {}, got {} operands", kind.text,
                 count == 1 ? "one value" : "a value and its positions", written.size());
  for (const OperandText& each : written) {
    const ValueId arg = value_of(each, std::nullopt);
    parsed.instr.args.push_back(arg);
    parsed.results.push_back({value(arg).dtype, {value(parsed.instr.args[0]).shape.rows, 1}});
  }
}

// --- loops ---

void InstructionParser::loop(const std::vector<ResultText>& results, const Token& at) {
  if (blocks_.size() > kDeepestLoop) tokens_.fail(at, "loops are nested too deeply");
  Parsed parsed;
  parsed.at = at;
  parsed.instr.code = Code::loop;
  const std::vector<Token> names = loop_header(parsed);
  check_results(parsed, results);
  scopes_.emplace_back();
  parsed.instr.body_params.push_back(define(names[0], {DType::i64, {}}));
  for (std::size_t i = 1; i < names.size(); ++i)
    parsed.instr.body_params.push_back(define(names[i], parsed.results[i - 1]));
  std::vector<Position> body = loop_body(parsed);
  for (const std::string& name : scopes_.back()) values_[name] = kNoValue;
  scopes_.pop_back();
  add(std::move(parsed), results, std::move(body));
}

// "%i = 0 to %n step 16 carrying %sum = %zero". Returns the names of the counter and the carried
// values.
std::vector<Token> InstructionParser::loop_header(Parsed& parsed) {
  std::vector<Token> names;
  const auto read_name = [&] {
    names.push_back(tokens_.next());
    if (names.back().kind != Token::Kind::value)
      tokens_.fail(names.back(), "expected a name such as %i, got {}", described(names.back()));
    tokens_.expect("=");
  };
  read_name();
  std::vector<ValueId>& args = parsed.instr.args;
  args.push_back(read_arg(DType::i64));
  tokens_.expect("to");
  args.push_back(read_arg(DType::i64));
  tokens_.expect("step");
  args.push_back(read_arg(DType::i64));
  if (!tokens_.take("carrying")) return names;
  do {
    read_name();
    args.push_back(read_arg(std::nullopt));
    parsed.results.push_back(value(args.back()));
  } while (tokens_.take(","));
  return names;
}

// Parses the lines up to the yield.
std::vector<InstructionParser::Position> InstructionParser::loop_body(Parsed& parsed) {
  std::vector<Position> positions;
  blocks_.push_back({&parsed.instr.body, &positions});
  for (;;) {
    if (!tokens_.at_line_end())
      tokens_.fail(tokens_.peek(), "expected the end of the line, got {}",
                   described(tokens_.peek()));
    if (tokens_.peek().kind == Token::Kind::end)
      tokens_.fail(parsed.at, "the loop has no end; its body ends with yield");
    tokens_.next();
    if (tokens_.take("yield")) break;
    if (begins_here())
      parse();
    else if (!tokens_.at_line_end())
      tokens_.fail(tokens_.peek(), "expected an instruction or yield, got {}",
                   described(tokens_.peek()));
  }
  const Token at = tokens_.peek();
  const std::vector<OperandText> yields = read_operands();
  if (yields.size() != parsed.results.size())
    tokens_.fail(at, "the loop carries {} values, not {}", parsed.results.size(), yields.size());
  for (std::size_t i = 0; i < yields.size(); ++i)
    parsed.instr.body_yields.push_back(value_of(yields[i], parsed.results[i].dtype));
  blocks_.pop_back();
  return positions;
}

}  // namespace sinter::tile
