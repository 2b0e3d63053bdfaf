// Sums have few terms, so a linear search for like terms is fast.
#include "src/codegen/analysis/index.h"

#include <algorithm>

namespace sinter {
namespace {

// Signed overflow is undefined in C++, unsigned overflow wraps.
std::int64_t wrapping_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

std::int64_t wrapping_product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

Index::Term product(const Index::Term& a, const Index::Term& b) {
  Index::Term result = a;
  result.coefficient = wrapping_product(a.coefficient, b.coefficient);
  result.factors.insert(result.factors.end(), b.factors.begin(), b.factors.end());
  return result;
}

}  // namespace

bool Index::Term::is_like(const Term& other) const {
  return std::is_permutation(factors.begin(), factors.end(), other.factors.begin(),
                             other.factors.end());
}

Index Index::of(tile::ValueId scalar) {
  Index result;
  result.add({1, {scalar}});
  return result;
}

std::optional<std::int64_t> Index::constant() const {
  if (is_zero()) return 0;
  if (terms_.size() > 1 || !terms_[0].factors.empty()) return std::nullopt;
  return terms_[0].coefficient;
}

bool Index::depends_on(tile::ValueId scalar) const {
  return std::any_of(terms_.begin(), terms_.end(), [&](const Term& term) {
    return std::find(term.factors.begin(), term.factors.end(), scalar) != term.factors.end();
  });
}

void Index::add(const Term& term) {
  if (term.coefficient == 0) return;
  const auto like = std::find_if(terms_.begin(), terms_.end(),
                                 [&](const Term& each) { return each.is_like(term); });
  if (like == terms_.end()) {
    terms_.push_back(term);
    return;
  }
  like->coefficient = wrapping_sum(like->coefficient, term.coefficient);
  if (like->coefficient == 0) terms_.erase(like);
}

Index operator+(Index a, const Index& b) {
  for (const Index::Term& term : b.terms_) a.add(term);
  return a;
}

Index operator-(Index a, const Index& b) { return std::move(a) + b * Index(-1); }

Index operator*(const Index& a, const Index& b) {
  Index result;
  for (const Index::Term& left : a.terms_)
    for (const Index::Term& right : b.terms_) result.add(product(left, right));
  return result;
}

bool operator==(const Index& a, const Index& b) {
  return std::is_permutation(a.terms_.begin(), a.terms_.end(), b.terms_.begin(), b.terms_.end());
}

}  // namespace sinter
