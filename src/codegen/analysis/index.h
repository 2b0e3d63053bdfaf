// Index: a symbolic integer expression over a program's scalars: a sum of terms, each a constant
// times a product of scalars. Constants fold and like terms combine; value_names.h prints it.
// Arithmetic wraps, as in the program.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "src/tile/program.h"

namespace sinter {

class Index {
 public:
  // Factors are atoms: the definition of a scalar is not expanded.
  struct Term {
    std::int64_t coefficient = 1;
    std::vector<tile::ValueId> factors;

    // Equal except for the coefficient; factors may be in any order.
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

  // In insertion order, with factors in the order of multiplication.
  const std::vector<Term>& terms() const { return terms_; }

  friend Index operator+(Index a, const Index& b);
  friend Index operator-(Index a, const Index& b);
  friend Index operator*(const Index& a, const Index& b);
  // Compares polynomials, independent of the order of terms and factors.
  friend bool operator==(const Index& a, const Index& b);

 private:
  void add(const Term& term);

  std::vector<Term> terms_;  // none is zero, no two are like terms
};

}  // namespace sinter
