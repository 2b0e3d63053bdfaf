// Reading numbers.
#include "src/graph/parse_numbers.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace sinter {
namespace {

constexpr auto kInteger = Literal::Kind::integer;
constexpr auto kReal = Literal::Kind::real;

template <typename T, typename... Base>
T converted(const TokenReader& tokens, const Token& token, Base... base) {
  T value{};
  const char* last = token.text.data() + token.text.size();
  const auto [end, error] = std::from_chars(token.text.data(), last, value, base...);
  if (error == std::errc::result_out_of_range) tokens.fail(token, "{} is out of range", token.text);
  if (error != std::errc() || end != last) tokens.fail(token, "{} is no number", described(token));
  return value;
}

// "nan", "nan(0x7ff8000000000001)"
double nan_value(TokenReader& tokens) {
  if (!tokens.take("(")) return std::numeric_limits<double>::quiet_NaN();
  const Token bits = tokens.next();
  if (bits.kind != Token::Kind::bits)
    tokens.fail(bits, "expected the bits of a NaN in hexadecimal, got {}", described(bits));
  const auto value = std::bit_cast<double>(converted<std::uint64_t>(tokens, bits, 16));
  if (!std::isnan(value)) tokens.fail(bits, "0x{} are not the bits of a NaN", bits.text);
  tokens.expect(")");
  return value;
}

Scalar integer_value(const TokenReader& tokens, const Token& token, bool negative) {
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 63;
  const auto magnitude = converted<std::uint64_t>(tokens, token);
  if (magnitude > kLimit - (negative ? 0 : 1)) tokens.fail(token, "{} is out of range", token.text);
  return Scalar::of(static_cast<std::int64_t>(negative ? -magnitude : magnitude));
}

bool is_number_word(std::string_view word) {
  return word == "inf" || word == "nan" || word == "true" || word == "false" || word == "exact" ||
         dtype_named(word);
}

}  // namespace

std::optional<DType> dtype_named(std::string_view name) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (name_of(static_cast<DType>(i)) == name) return static_cast<DType>(i);
  return std::nullopt;
}

bool at_number(const TokenReader& tokens) {
  const Token& token = tokens.peek();
  if (token.kind == Token::Kind::word) return is_number_word(token.text);
  return token.kind == Token::Kind::integer || token.kind == Token::Kind::real ||
         (token.kind == Token::Kind::mark && token.text == "-");
}

Literal parse_literal(TokenReader& tokens) {
  const bool negative = tokens.take("-");
  const Token token = tokens.next();
  const double sign = negative ? -1 : 1;
  if (token.kind == Token::Kind::integer) return {kInteger, integer_value(tokens, token, negative)};
  if (token.kind == Token::Kind::real)
    return {kReal, Scalar::of(sign * converted<double>(tokens, token))};
  if (token.kind == Token::Kind::word) {
    if (token.text == "inf")
      return {kReal, Scalar::of(sign * std::numeric_limits<double>::infinity())};
    if (token.text == "nan") {
      const double nan = nan_value(tokens);
      return {kReal, Scalar::of(negative ? -nan : nan)};
    }
    if (!negative && (token.text == "true" || token.text == "false"))
      return {Literal::Kind::boolean, Scalar::of(std::int64_t{token.text == "true"})};
  }
  tokens.fail(token, "expected a number, got {}", described(token));
}

NumberText parse_number(TokenReader& tokens) {
  NumberText number;
  number.at = tokens.peek();
  if (number.at.kind == Token::Kind::word) number.dtype = dtype_named(number.at.text);
  if (number.dtype) tokens.next();
  number.exact = tokens.take("exact");
  number.literal = parse_literal(tokens);
  return number;
}

void check_holds(const TokenReader& tokens, const NumberText& number, DType dtype) {
  if (is_floating(dtype)) return;
  const Scalar& value = number.literal.value;
  const bool fits = dtype == DType::boolean
                        ? number.literal.kind == Literal::Kind::boolean
                        : !value.is_real && value.as(dtype).integer == value.integer;
  if (!fits) tokens.fail(number.at, "{} cannot hold {}", name_of(dtype), to_string(value));
}

}  // namespace sinter
