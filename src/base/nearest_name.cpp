// Levenshtein distance, one row of the table at a time.
#include "src/base/nearest_name.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "src/base/check.h"

namespace sinter {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

std::string listed_names(std::span<const std::string> names) {
  SINTER_ASSERT(!names.empty());
  const std::string& last = names.back();
  if (names.size() == 1) return fmt::format("there is just {}", last);
  return fmt::format("there are {} and {}", fmt::join(names.first(names.size() - 1), ", "), last);
}

std::string nearest_name(std::string_view name, std::span<const std::string> names) {
  SINTER_ASSERT(!names.empty());
  return *std::min_element(names.begin(), names.end(), [&](const auto& a, const auto& b) {
    return edit_distance(name, a) < edit_distance(name, b);
  });
}

std::string unknown_name(std::string_view what, std::string_view name,
                         std::span<const std::string> names) {
  const std::string nearest = nearest_name(name, names);
  // With half of its letters wrong it is not a typo.
  const bool near = edit_distance(name, nearest) <= (name.size() + 1) / 2;
  return fmt::format("there is no {} '{}'; {}", what, name,
                     near ? fmt::format("did you mean {}?", nearest) : listed_names(names));
}

}  // namespace sinter
