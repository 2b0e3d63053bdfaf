// Recursive descent over integers; every operation is checked for overflow.
#include "src/graph/parse_sizes.h"

#include <algorithm>
#include <charconv>

#include "src/base/check.h"
#include "src/base/nearest_name.h"

namespace sinter {
namespace {

constexpr int kDeepest = 64;

}  // namespace

std::vector<std::string> SizeReader::names() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : declared_) names.push_back(name);
  return names;
}

void SizeReader::read_declarations() {
  do {
    const Token name = tokens_.next();
    if (name.kind != Token::Kind::word)
      tokens_.fail(name, "expected the name of a size, got {}", described(name));
    if (values_.contains(name.text)) tokens_.fail(name, "the size {} is declared twice", name.text);
    tokens_.expect("=");
    std::int64_t value = expression();
    if (const auto given = given_.find(name.text); given != given_.end()) value = given->second;
    if (value < 0 || value > kMostElements)
      tokens_.fail(name, "{} cannot be {}: a size is from 0 to 2^48", name.text, value);
    declared_.emplace_back(name.text, value);
    values_.emplace(name.text, value);
  } while (tokens_.take(","));
}

void SizeReader::check_given() const {
  for (const auto& [name, value] : given_) {
    if (declared_.empty())
      fail_user("parse", "the program declares no sizes, so {} cannot be set", name);
    if (!values_.contains(name)) fail_user("parse", "{}", unknown_name("size", name, names()));
  }
}

std::int64_t SizeReader::named(const Token& name) {
  if (const auto found = values_.find(name.text); found != values_.end()) return found->second;
  if (declared_.empty())
    tokens_.fail(name, "there is no size '{0}'; declare it: sizes {0} = 1024", name.text);
  tokens_.fail(name, "{}", unknown_name("size", name.text, names()));
}

std::int64_t SizeReader::factor() {
  const Token first = tokens_.next();
  const bool is_nested = first.text == "(" || first.text == "-";
  if (first.kind == Token::Kind::mark && is_nested) {
    if (++depth_ > kDeepest) tokens_.fail(first, "the expression is nested too deeply");
    std::int64_t value = 0;
    if (first.text == "(") {
      value = expression();
      tokens_.expect(")");
    } else if (__builtin_sub_overflow(std::int64_t{0}, factor(), &value)) {
      tokens_.fail(first, "the number is too large");
    }
    --depth_;
    bare_name_ = {};
    return value;
  }
  if (first.kind == Token::Kind::word) {
    bare_name_ = first.text;
    return named(first);
  }
  bare_name_ = {};
  if (first.kind != Token::Kind::integer)
    tokens_.fail(first, "expected an integer or the name of a size, got {}", described(first));
  std::int64_t value = 0;
  const auto [end, error] =
      std::from_chars(first.text.data(), first.text.data() + first.text.size(), value);
  if (error != std::errc()) tokens_.fail(first, "{} is too large", first.text);
  return value;
}

std::int64_t SizeReader::product() {
  std::int64_t value = factor();
  for (;;) {
    const Token sign = tokens_.peek();
    if (tokens_.take("*")) {
      if (__builtin_mul_overflow(value, factor(), &value))
        tokens_.fail(sign, "the product is too large");
    } else if (tokens_.take("/")) {
      const std::int64_t divisor = factor();
      if (divisor <= 0) tokens_.fail(sign, "sizes cannot be divided by {}", divisor);
      if (value % divisor != 0) tokens_.fail(sign, "{} is not a multiple of {}", value, divisor);
      value /= divisor;
    } else {
      return value;
    }
    bare_name_ = {};
  }
}

std::int64_t SizeReader::expression() {
  std::int64_t value = product();
  for (;;) {
    const Token sign = tokens_.peek();
    bool overflows = false;
    if (tokens_.take("+"))
      overflows = __builtin_add_overflow(value, product(), &value);
    else if (tokens_.take("-"))
      overflows = __builtin_sub_overflow(value, product(), &value);
    else
      return value;
    if (overflows) tokens_.fail(sign, "the sum is too large");
    bare_name_ = {};
  }
}

Shape SizeReader::list_and_names(std::vector<std::string>* names) {
  Shape list;
  tokens_.expect("(");
  if (tokens_.take(")")) return list;
  do {
    const Token first = tokens_.peek();
    const std::int64_t value = expression();
    if (list.rank() == kMaxRank) tokens_.fail(first, "there are at most {} axes", kMaxRank);
    list.push_back(value);
    if (names) names->emplace_back(bare_name_);
  } while (tokens_.take(","));
  tokens_.expect(")");
  return list;
}

Shape SizeReader::list() { return list_and_names(nullptr); }

Shape SizeReader::shape(std::vector<std::string>* names) {
  const Token at = tokens_.peek();
  const Shape shape = list_and_names(names);
  check_shape(at, shape);
  return shape;
}

void SizeReader::check_shape(const Token& at, const Shape& shape) const {
  std::int64_t elements = 1;
  for (std::int64_t size : shape) {
    if (size < 0) tokens_.fail(at, "a size is negative: {}", to_string(shape));
    // An empty axis does not excuse the others: strides are their products.
    if (__builtin_mul_overflow(elements, std::max<std::int64_t>(size, 1), &elements) ||
        elements > kMostElements)
      tokens_.fail(at, "{} has more than 2^48 elements", to_string(shape));
  }
}

}  // namespace sinter
