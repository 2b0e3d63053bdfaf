// Factors common factors out of adjacent terms: Index expands (a + b) * s for comparison, but the
// product takes only one multiplication.
#include "src/codegen/index_text.h"

#include <algorithm>
#include <limits>

namespace sinter {

using tile::ValueId;
using Term = Index::Term;

namespace {

std::uint64_t magnitude(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return value < 0 ? 0 - bits : bits;
}

// Removes the factor from `factors` if present.
bool take(std::vector<ValueId>& factors, ValueId factor) {
  const auto found = std::find(factors.begin(), factors.end(), factor);
  if (found == factors.end()) return false;
  factors.erase(found);
  return true;
}

// The common factor of two terms. Includes the coefficient only if both have the same magnitude:
// otherwise factoring it out saves no multiplication.
Term common(const Term& a, const Term& b) {
  Term result;
  std::vector<ValueId> rest = b.factors;
  for (ValueId factor : a.factors)
    if (take(rest, factor)) result.factors.push_back(factor);
  if (!a.factors.empty() && !b.factors.empty() &&
      magnitude(a.coefficient) == magnitude(b.coefficient))
    result.coefficient = a.coefficient;
  return result;
}

bool is_trivial(const Term& factor) {
  return factor.factors.empty() && magnitude(factor.coefficient) == 1;
}

Term quotient(Term term, const Term& divisor) {
  for (ValueId factor : divisor.factors) take(term.factors, factor);
  if (divisor.coefficient == -1)  // INT64_MIN / -1 would overflow
    term.coefficient = static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(term.coefficient));
  else
    term.coefficient /= divisor.coefficient;
  return term;
}

class IndexWriter {
 public:
  explicit IndexWriter(const IndexSpelling& spelling) : spelling_(spelling) {}

  std::string sum(const std::vector<Term>& terms) {
    if (terms.empty()) return spelling_.number(0);
    text_.clear();
    for (std::size_t i = 0; i < terms.size();) {
      Term factor = terms[i];
      std::size_t end = i + 1;
      for (; end < terms.size(); ++end) {
        const Term less = common(factor, terms[end]);
        if (is_trivial(less)) break;
        factor = less;
      }
      if (end == i + 1)
        append(terms[i], "");
      else
        append_group({terms.begin() + static_cast<std::ptrdiff_t>(i),
                      terms.begin() + static_cast<std::ptrdiff_t>(end)},
                     factor);
      i = end;
    }
    return text_;
  }

 private:
  // Writes the sum of the terms as a product with their common factor.
  void append_group(std::vector<Term> terms, Term factor) {
    if ((terms[0].coefficient < 0) != (factor.coefficient < 0)) factor.coefficient *= -1;
    for (Term& term : terms) term = quotient(term, factor);
    append(factor, "(" + IndexWriter(spelling_).sum(terms) + ")");
  }

  // Adds or subtracts a product whose first factor is `first`.
  void append(const Term& term, std::string first) {
    // INT64_MIN cannot be negated, so it cannot be subtracted.
    const bool is_least = term.coefficient == std::numeric_limits<std::int64_t>::min();
    const bool is_negative = term.coefficient < 0 && !is_least;
    std::string product = std::move(first);
    const auto multiply = [&](const std::string& factor) {
      product += (product.empty() ? "" : " * ") + factor;
    };
    for (ValueId factor : term.factors) multiply(spelling_.scalar(factor));
    if (is_least)
      multiply("(-9223372036854775807 - 1)");
    else if (product.empty() || magnitude(term.coefficient) != 1)
      multiply(spelling_.number(static_cast<std::int64_t>(magnitude(term.coefficient))));
    if (text_.empty())
      text_ = (is_negative ? "-" : "") + product;
    else
      text_ += (is_negative ? " - " : " + ") + product;
  }

  const IndexSpelling& spelling_;
  std::string text_;
};

}  // namespace

std::string index_text(const Index& index, const IndexSpelling& spelling) {
  return IndexWriter(spelling).sum(index.terms());
}

std::string factor_text(const Index& index, const IndexSpelling& spelling) {
  const std::vector<Term>& terms = index.terms();
  const bool is_name =
      terms.size() == 1 && terms[0].coefficient == 1 && terms[0].factors.size() == 1;
  const std::string text = index_text(index, spelling);
  return is_name || index.constant().value_or(-1) >= 0 ? text : "(" + text + ")";
}

}  // namespace sinter
