// SizeReader: the sizes a program declares, and integer expressions over them: "2 * rows".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/graph/parse.h"
#include "src/graph/tokens.h"

namespace sinter {

// Limit on a shape's elements, so that element and byte counts do not overflow.
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 48;

class SizeReader {
 public:
  // `given` overrides declared defaults and must outlive the reader.
  SizeReader(TokenReader& tokens, const SizeValues& given) : tokens_(tokens), given_(given) {}

  // "rows = 4096, cols = rows / 2"
  void read_declarations();
  const std::vector<std::pair<std::string, std::int64_t>>& declared() const { return declared_; }
  // UserError if a given size was not declared.
  void check_given() const;

  // A sum of products of integers, sizes and parentheses.
  std::int64_t expression();
  // "(4, 2 * rows)": at most kMaxRank integers.
  Shape list();
  // A list checked as a shape. `names` gets, for each axis, the declared size it names, or "".
  Shape shape(std::vector<std::string>* names = nullptr);

  // UserError at the token if a size is negative or there are too many elements.
  void check_shape(const Token& at, const Shape& shape) const;

 private:
  std::int64_t product();
  std::int64_t factor();
  std::int64_t named(const Token& name);
  Shape list_and_names(std::vector<std::string>* names);
  std::vector<std::string> names() const;  // of the declared sizes

  TokenReader& tokens_;
  const SizeValues& given_;
  std::vector<std::pair<std::string, std::int64_t>> declared_;
  std::unordered_map<std::string_view, std::int64_t> values_;  // by name; the text outlives them
  std::string_view bare_name_;  // the last expression, if it was just a declared size
  int depth_ = 0;               // of parentheses and signs
};

}  // namespace sinter
