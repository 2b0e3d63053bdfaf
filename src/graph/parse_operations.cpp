// One function per kind of node.
#include "src/graph/parse_operations.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "src/base/nearest_name.h"
#include "src/graph/matmul_views.h"
#include "src/graph/parse_views.h"

namespace sinter {
namespace {

constexpr ReduceKind kReduceKinds[] = {
#define SINTER_REDUCTION(name, identity, combine, dtype, finish) ReduceKind::name,
#include <sinter/reductions.def>
#undef SINTER_REDUCTION
};

}  // namespace

Operand OperationParser::parse(const OperationText& text) {
  const std::string_view word = text.word.kind == Token::Kind::word ? text.word.text : "";
  build_.set_origin(origins_.push_back({std::string(word), ""}));
  if (word == "input") return input(text);
  if (word == "constant") return constant(text);
  if (word == "number") return number(text);
  if (word == "iota") return iota(text);
  if (word == "concat") return concat(text);
  if (word == "contract") return contract(text);
  if (word == "matmul") return matmul(text);
  for (const ReduceKind kind : kReduceKinds)
    if (name_of(kind) == word) return reduce(text, kind);
  for (int i = static_cast<int>(Op::iota) + 1; i <= static_cast<int>(Op::cast); ++i)
    if (name_of(static_cast<Op>(i)) == word) return pointwise(text, static_cast<Op>(i));
  unknown_operation(text.word);
}

void OperationParser::unknown_operation(const Token& word) const {
  if (word.kind != Token::Kind::word)
    tokens_.fail(word, "expected an operation, got {}", described(word));
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(Op::concat); ++i)
    if (static_cast<Op>(i) != Op::reduce) names.emplace_back(name_of(static_cast<Op>(i)));
  for (const ReduceKind kind : kReduceKinds) names.emplace_back(name_of(kind));
  names.emplace_back("matmul");
  tokens_.fail(word, "there is no operation '{}'; did you mean {}?", word.text,
               nearest_name(word.text, names));
}

Operand OperationParser::input(const OperationText& text) {
  if (!text.type.dtype || !text.type.shape)
    tokens_.fail(text.word, "an input has a type and a shape: %x: f32(4, 8) = input");
  return build_.input(*text.type.dtype, *text.type.shape);
}

Operand OperationParser::constant(const OperationText& text) {
  NumberText number = parse_number(tokens_);
  if (number.dtype) tokens_.fail(number.at, "a constant's type is written before '='");
  const Literal::Kind kind = number.literal.kind;
  const DType dtype = text.type.dtype.value_or(kind == Literal::Kind::real      ? DType::f32
                                               : kind == Literal::Kind::integer ? DType::i64
                                                                                : DType::boolean);
  return build_.constant(typed_value(number, dtype), dtype, text.type.shape.value_or(Shape()));
}

Operand OperationParser::number(const OperationText& text) {
  if (!text.type.dtype) tokens_.fail(text.word, "a number has a type: %y: f32() = number #lr");
  const NumberId number = numbers_.parse_use(*text.type.dtype);
  return build_.number(number, *text.type.dtype, text.type.shape.value_or(Shape()));
}

Scalar OperationParser::typed_value(const NumberText& number, DType dtype) const {
  check_holds(tokens_, number, dtype);
  return number.exact ? number.literal.value : rounded_number(number.literal, dtype);
}

Operand OperationParser::iota(const OperationText& text) {
  const bool has_type = text.type.dtype && *text.type.dtype != DType::boolean &&
                        compute_dtype(*text.type.dtype) == *text.type.dtype;
  if (!has_type || !text.type.shape || text.type.shape->rank() != 1)
    tokens_.fail(text.word, "iota has one axis and the type f32, f64, i32 or i64");
  const Scalar start = range_number(*text.type.dtype);
  tokens_.expect("step");
  const Scalar step = range_number(*text.type.dtype);
  const std::int64_t count = (*text.type.shape)[0];
  std::int64_t last = 0;
  const bool overflows =
      !start.is_real && !step.is_real && count > 0 &&
      (__builtin_mul_overflow(step.integer, count - 1, &last) ||
       __builtin_add_overflow(start.integer, last, &last) ||
       (text.type.dtype == DType::i32 && Scalar::of(last).as(DType::i32).integer != last));
  if (overflows) tokens_.fail(text.word, "the last element is out of range");
  return build_.range(count, start, step, *text.type.dtype);
}

Scalar OperationParser::range_number(DType dtype) {
  NumberText number;
  number.at = tokens_.peek();
  number.literal = parse_literal(tokens_);
  check_holds(tokens_, number, dtype);
  if (!std::isfinite(number.literal.value.real))
    tokens_.fail(number.at, "a range starts and steps by finite numbers");
  return number.literal.value;
}

Operand OperationParser::reduce(const OperationText& text, ReduceKind kind) {
  const Operand operand = parse_value();
  const int rank = operand.view.shape.rank();
  const std::uint32_t axes = parse_axes(rank);
  bool is_empty = false;
  for (int i = 0; i < rank; ++i) is_empty |= (axes >> i & 1) != 0 && operand.view.shape[i] == 0;
  const bool is_bool = graph().dtype(operand) == DType::boolean;
  if (is_empty && !is_defined_for_nothing(kind) && !is_bool)
    tokens_.fail(text.word, "{} of no elements: the value is {}", name_of(kind),
                 to_string(operand.view.shape));
  if (is_arg(kind) && !std::has_single_bit(axes))
    tokens_.fail(text.word, "{} takes one axis", name_of(kind));
  if (is_arg(kind) && is_bool)
    tokens_.fail(text.word, "{} takes numbers; cast the bools", name_of(kind));
  return build_.reduce(kind, operand, axes);
}

// "over axes 0 2", up to the end of the line.
std::uint32_t OperationParser::parse_axes(int rank) {
  tokens_.expect("over");
  if (!tokens_.take("axis")) tokens_.expect("axes");
  std::uint32_t axes = 0;
  do {
    const Token at = tokens_.peek();
    const int axis = parse_axis(rank);
    if (axes >> axis & 1) tokens_.fail(at, "axis {} is named twice", axis);
    axes |= 1u << axis;
  } while (!tokens_.at_line_end());
  return axes;
}

// Takes two values of the same shape and floating-point type. The result may also have the type
// that kernels accumulate in.
Operand OperationParser::contract(const OperationText& text) {
  const Operand a = parse_value();
  tokens_.expect(",");
  const Operand b = parse_value();
  if (a.view.shape != b.view.shape)
    tokens_.fail(text.word, "contract takes values of one shape, got {} and {}",
                 to_string(a.view.shape), to_string(b.view.shape));
  const DType dtype = graph().dtype(a);
  if (!is_floating(dtype) || graph().dtype(b) != dtype)
    tokens_.fail(text.word, "contract takes values of one floating-point type, got {} and {}",
                 name_of(dtype), name_of(graph().dtype(b)));
  const std::uint32_t axes = parse_axes(a.view.shape.rank());
  const bool is_wide = text.type.dtype == compute_dtype(dtype);
  return build_.contract(a, b, axes, is_wide ? compute_dtype(dtype) : dtype);
}

Operand OperationParser::matmul(const OperationText& text) {
  const Operand a = parse_value();
  tokens_.expect(",");
  const Operand b = parse_value();
  const DType dtype = promote(graph().dtype(a), graph().dtype(b));
  if (!is_floating(dtype))
    tokens_.fail(text.word, "matmul takes floating-point values, got {} and {}; cast them",
                 name_of(graph().dtype(a)), name_of(graph().dtype(b)));
  Operand left = build_.cast(a, dtype);
  Operand right = build_.cast(b, dtype);
  const MatmulViews views = matmul_views(left.view, right.view);
  if (!views.refusal.empty()) tokens_.fail(text.word, "matmul: {}", views.refusal);
  sizes_.check_shape(text.word, views.a.shape);
  left.view = views.a;
  right.view = views.b;
  const Operand result = build_.contract(left, right, views.axes, dtype);
  return {result.node, matmul_result(result.view, views)};
}

// A plain integer, not a size expression: axes are separated by blanks, so "0 -1" is two axes.
int OperationParser::parse_axis(int rank) {
  const Token at = tokens_.peek();
  const Literal axis = parse_literal(tokens_);
  if (axis.kind != Literal::Kind::integer) tokens_.fail(at, "expected an axis");
  return checked_axis(tokens_, at, axis.value.integer, rank);
}

Operand OperationParser::concat(const OperationText& text) {
  std::vector<Operand> parts;
  do parts.push_back(parse_value());
  while (tokens_.take(","));
  tokens_.expect("axis");
  const Shape first = parts[0].view.shape;
  const int axis = parse_axis(first.rank());
  DType dtype = graph().dtype(parts[0]);
  Shape total = first;
  total[axis] = 0;
  for (const Operand& part : parts) {
    Shape expected = first;
    if (part.view.shape.rank() == first.rank()) expected[axis] = part.view.shape[axis];
    if (part.view.shape != expected)
      tokens_.fail(text.word, "{} and {} differ in more than axis {}", to_string(first),
                   to_string(part.view.shape), axis);
    total[axis] += expected[axis];
    sizes_.check_shape(text.word, total);
    dtype = promote(dtype, graph().dtype(part));
  }
  for (Operand& part : parts) part = build_.cast(part, dtype);
  return build_.concat(std::move(parts), axis);
}

// --- pointwise operations ---

Operand OperationParser::pointwise(const OperationText& text, Op op) {
  std::vector<OperandText> written;
  if (!tokens_.at_line_end()) {
    do written.push_back(parse_operand());
    while (tokens_.take(","));
  }
  const int arity = info(op).arity;
  if (static_cast<int>(written.size()) != arity)
    tokens_.fail(text.word, "{} takes {} operand{}, got {}", name_of(op), arity,
                 arity == 1 ? "" : "s", written.size());
  if (op == Op::cast && !text.type.dtype)
    tokens_.fail(text.word, "a cast has a type: %y: f16 = cast %x");
  std::vector<Operand> operands = operands_of(op, written, text.type.dtype);
  const Shape shape = joined_shape(text, operands);
  for (std::size_t i = 0; i < operands.size(); ++i)
    operands[i] = expanded_to(tokens_, written[i].at, operands[i], shape);
  if (op == Op::cast)
    return build_.add({.op = op, .dtype = *text.type.dtype, .shape = shape, .operands = operands});
  check_bools(text.word, op, operands);
  return build_.pointwise(op, operands);
}

void OperationParser::check_bools(const Token& word, Op op,
                                  const std::vector<Operand>& operands) const {
  std::vector<DType> dtypes;
  for (const Operand& operand : operands) dtypes.push_back(graph().dtype(operand));
  if (info(op).rule == DTypeRule::Signed && op_types(op, dtypes).operands[0] == DType::boolean)
    tokens_.fail(word, "{} takes numbers; cast the bools, or use logical_xor or logical_not",
                 name_of(op));
}

// A number argument promotes by its kind.
Literal OperationParser::literal_of(const OperandText& text) const {
  if (text.given == kNoNumber) return text.number.literal;
  const NumberExpr& expr = graph().numbers[text.given];
  if (expr.kind != NumberExpr::Kind::argument)
    return {expr.traced.is_real ? Literal::Kind::real : Literal::Kind::integer, expr.traced};
  switch (graph().numbers.arguments()[expr.index]) {
    case NumberKind::boolean:
      return {Literal::Kind::boolean, expr.traced};
    case NumberKind::integer:
      return {Literal::Kind::integer, expr.traced};
    default:
      return {Literal::Kind::real, expr.traced};
  }
}

// Operands that are values stay as they are; numbers become constants.
std::vector<Operand> OperationParser::operands_of(Op op, const std::vector<OperandText>& written,
                                                  std::optional<DType> result) {
  std::vector<WrittenOperand> dtypes;
  for (const OperandText& each : written)
    dtypes.push_back(
        {each.value ? graph().dtype(*each.value) : each.number.dtype, literal_of(each)});
  const std::vector<Constant> plain = plain_constants(op, dtypes, result);
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < written.size(); ++i) {
    const NumberText& number = written[i].number;
    if (written[i].value) {
      operands.push_back(*written[i].value);
    } else if (written[i].given != kNoNumber) {
      const Constant& taken = plain[i];
      const NumberId id = tokens_.located(written[i].at, [&] {
        return build_.numbers().as_operand(written[i].given, op, i, taken.promoted, taken.dtype);
      });
      operands.push_back(build_.number(id, taken.dtype));
    } else if (number.dtype) {
      operands.push_back(build_.constant(typed_value(number, *number.dtype), *number.dtype));
    } else {
      const DType dtype = plain[i].dtype;
      if (is_integer(dtype)) check_holds(tokens_, number, dtype);
      const bool exact = number.exact && is_floating(dtype);
      operands.push_back(build_.constant(exact ? number.literal.value : plain[i].value, dtype));
    }
  }
  return operands;
}

// The shape written before '=', or the shape the operands broadcast to.
Shape OperationParser::joined_shape(const OperationText& text,
                                    const std::vector<Operand>& operands) const {
  if (text.type.shape) return *text.type.shape;
  Shape shape;
  for (const Operand& operand : operands) {
    const Shape& other = operand.view.shape;
    while (shape.rank() < other.rank()) shape.insert(0, 1);
    for (int i = 1; i <= other.rank(); ++i) {
      std::int64_t& size = shape[shape.rank() - i];
      const std::int64_t theirs = other[other.rank() - i];
      if (size != theirs && size != 1 && theirs != 1)
        tokens_.fail(text.word, "{} and {} do not broadcast", to_string(operands[0].view.shape),
                     to_string(other));
      if (size == 1) size = theirs;
    }
  }
  sizes_.check_shape(text.word, shape);
  return shape;
}

// --- operands ---

OperandText OperationParser::parse_operand() {
  OperandText operand;
  operand.at = tokens_.peek();
  if (operand.at.kind == Token::Kind::number)
    operand.given = numbers_.parse_use();
  else if (at_number(tokens_))
    operand.number = parse_number(tokens_);
  else
    operand.value = parse_seen_value();
  if (operand.value && is_scalar(graph()[operand.value->node].op))
    operand.value = build_.unpadded(*operand.value);
  return operand;
}

Operand OperationParser::parse_value() { return build_.unpadded(parse_seen_value()); }

Operand OperationParser::parse_seen_value() {
  const Token name = tokens_.next();
  if (name.kind != Token::Kind::value)
    tokens_.fail(name, "expected a value such as %x, got {}", described(name));
  const auto found = values_.find(std::string(name.text));
  if (found == values_.end()) unknown_value(name);
  return parse_views(tokens_, sizes_, build_, found->second);
}

void OperationParser::unknown_value(const Token& name) const {
  if (values_.empty()) tokens_.fail(name, "%{} is not defined", name.text);
  std::vector<std::string> names;
  for (const auto& [known, value] : values_) names.push_back(known);
  std::sort(names.begin(), names.end());
  tokens_.fail(name, "%{} is not defined; did you mean %{}?", name.text,
               nearest_name(name.text, names));
}

void OperationParser::define(const Token& name, const Operand& value) {
  if (!values_.emplace(name.text, value).second)
    tokens_.fail(name, "%{} is defined twice", name.text);
}

}  // namespace sinter
