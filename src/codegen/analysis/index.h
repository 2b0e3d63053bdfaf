// Index: an integer expression of a program's scalars, as a value: a sum of terms, each a constant
// times a product of scalars. Constants fold, like terms join; text appears when it is printed
// (value_names.h). Arithmetic wraps around like that of the program.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "src/tile/program.h"

namespace sinter {

class Index {
 public:
  // Factors are atoms: nothing looks into how a scalar was computed.
  struct Term {
    std::int64_t coefficient = 1;
    std::vector<tile::ValueId> factors;

    // Equal but for the coefficient, in any order.
    bool is_like(const Term& other) const;
    friend bool operator==(const Term& a, const Term& b) {
      return a.coefficient == b.coefficient && a.is_like(b);
    }
  };

  Index() = default;  // 0
  explicit Index(std::int64_t constant) { add({constant, {}}); }
  static Index of(tile::ValueId scalar);

  bool is_zero() const { return terms_.empty(); }
  bool is_one() const { return constant() == 1; }
  std::optional<std::int64_t> constant() const;
  bool depends_on(tile::ValueId scalar) const;

  // In the order they were added in, their factors in the order they were multiplied in.
  const std::vector<Term>& terms() const { return terms_; }

  friend Index operator+(Index a, const Index& b);
  friend Index operator-(Index a, const Index& b);
  friend Index operator*(const Index& a, const Index& b);
  // The same polynomial, however it was written.
  friend bool operator==(const Index& a, const Index& b);

 private:
  void add(const Term& term);

  std::vector<Term> terms_;  // none is zero, no two are alike
};

}  // namespace sinter
