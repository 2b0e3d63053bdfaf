// Definitions and guards.
#include "src/graph/parse_given.h"

#include <array>
#include <charconv>
#include <limits>

#include "src/graph/evaluate.h"

namespace sinter {
namespace {

using Kind = NumberExpr::Kind;

// Whether the number is one of the dtype's values in every call.
bool has_dtype(const NumberExpr& expr, DType dtype) {
  switch (expr.kind) {
    case Kind::value:
      return same_bits(expr.value, expr.value.as(dtype));
    case Kind::apply:
      return op_types(expr.op, std::array{expr.dtype, expr.dtype, expr.dtype}).result == dtype;
    case Kind::quotient:
    case Kind::cast:
    case Kind::exact:
      return expr.dtype == dtype;
    default:
      return false;
  }
}

}  // namespace

void NumberParser::parse_definition() {
  const Token name = tokens_.next();
  tokens_.expect("=");
  const NumberId id = parse_expression();
  if (!names_.emplace(name.text, id).second) tokens_.fail(name, "#{} is defined twice", name.text);
}

NumberId NumberParser::parse_use() {
  const Token name = tokens_.next();
  if (name.kind != Token::Kind::number)
    tokens_.fail(name, "expected a number such as #lr, got {}", described(name));
  const auto found = names_.find(std::string(name.text));
  if (found == names_.end()) tokens_.fail(name, "#{} is not defined", name.text);
  return found->second;
}

NumberId NumberParser::parse_use(DType dtype) {
  const Token at = tokens_.peek();
  const NumberId id = parse_use();
  // An integer beyond i64 is marked real, but keeps its digits.
  const Scalar& value = numbers_.traced_value(id);
  if (is_integer(dtype) && value.is_real && value.integer == 0)
    tokens_.fail(at, "{} cannot hold #{}, which is a real number", name_of(dtype), at.text);
  const DType computed = compute_dtype(dtype);
  if (has_dtype(numbers_[id], dtype) || has_dtype(numbers_[id], computed)) return id;
  NumberExpr exact{.kind = Kind::exact, .dtype = computed, .user = "full"};
  exact.operands[0] = id;
  return added(at, exact);
}

NumberId NumberParser::added(const Token& at, const NumberExpr& expr) {
  return tokens_.located(at, [&] { return numbers_.add(expr); });
}

void NumberParser::parse_guard() {
  const Token at = tokens_.peek();
  const NumberId id = parse_use();
  tokens_.expect("is");
  const bool same = !tokens_.take("not");
  const Scalar value = parse_literal(tokens_).value;
  if (numbers_.is_guarded(id, value) != same)
    tokens_.fail(at, "the guard does not hold for the numbers given above");
}

NumberId NumberParser::parse_expression() {
  const Token word = tokens_.peek();
  if (tokens_.take("argument")) return argument();
  const bool is_literal = word.kind != Token::Kind::word || word.text == "inf" ||
                          word.text == "nan" || word.text == "true" || word.text == "false";
  if (is_literal) return numbers_.value(parse_literal(tokens_).value);
  tokens_.next();
  return computed(word);
}

NumberId NumberParser::argument() {
  const Token word = tokens_.next();
  const NumberKind kind = word.text == "bool"      ? NumberKind::boolean
                          : word.text == "integer" ? NumberKind::integer
                                                   : NumberKind::real;
  if (kind == NumberKind::real && word.text != "real")
    tokens_.fail(word, "expected real, integer or bool, got {}", described(word));
  const Token at = tokens_.peek();
  std::uint64_t digits = 0;
  const char* end = at.text.data() + at.text.size();
  const bool is_unsigned =
      at.kind == Token::Kind::integer && std::from_chars(at.text.data(), end, digits).ptr == end;
  if (kind == NumberKind::integer && is_unsigned &&
      digits > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    tokens_.next();
    return numbers_.argument(
        kind, {static_cast<double>(digits), static_cast<std::int64_t>(digits), true});
  }
  const Literal literal = parse_literal(tokens_);
  const bool fits = kind == NumberKind::boolean   ? literal.kind == Literal::Kind::boolean
                    : kind == NumberKind::integer ? literal.kind == Literal::Kind::integer
                                                  : literal.kind == Literal::Kind::real;
  if (!fits)
    tokens_.fail(at, "expected {} {} number", kind == NumberKind::integer ? "an" : "a", word.text);
  return numbers_.argument(kind, literal.value);
}

DType NumberParser::dtype() {
  const Token word = tokens_.next();
  const auto found = dtype_named(word.text);
  if (!found) tokens_.fail(word, "expected a dtype, got {}", described(word));
  return *found;
}

NumberId NumberParser::computed(const Token& word) {
  NumberExpr expr;
  std::size_t arity = 1;
  if (word.text == "quotient") {
    expr.kind = Kind::quotient;
    expr.dtype = DType::i64;
    arity = 2;
  } else {
    expr.dtype = dtype();
    expr.kind = word.text == "cast"      ? Kind::cast
                : word.text == "exact"   ? Kind::exact
                : word.text == "divisor" ? Kind::divisor
                                         : Kind::apply;
  }
  if (expr.kind == Kind::apply) {
    for (int i = static_cast<int>(Op::iota) + 1; i < static_cast<int>(Op::cast); ++i)
      if (name_of(static_cast<Op>(i)) == word.text) expr.op = static_cast<Op>(i);
    if (name_of(expr.op) != word.text || !evaluate(expr.op, expr.dtype, {}))
      tokens_.fail(word, "there is no operation '{}' on numbers of {}", word.text,
                   name_of(expr.dtype));
    arity = static_cast<std::size_t>(info(expr.op).arity);
  }
  for (std::size_t i = 0; i < arity; ++i) {
    if (i > 0) tokens_.expect(",");
    expr.operands[i] = parse_use();
  }
  return added(word, expr);
}

}  // namespace sinter
