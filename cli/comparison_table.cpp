// Lists only what changed; the rest is a count.
#include "cli/comparison_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/table.h"

namespace sinter::cli {
namespace {

using suite::Verdict;

Cell verdict_cell(Verdict verdict) {
  return {std::string(name_of(verdict)), verdict == Verdict::slower ? Colour::red : Colour::green};
}

std::string noise_text(double noise) { return fmt::format("{:.0f}%", noise * 100); }

std::string cases_text(const suite::Comparison& comparison) {
  std::vector<std::vector<Cell>> rows;
  for (const suite::CaseChange& each : comparison.cases)
    if (each.verdict != Verdict::same)
      rows.push_back({{each.case_name},
                      {each.dtype},
                      {each.provider},
                      {std::to_string(each.rows)},
                      {fmt::format("{:.2f}x", each.change)},
                      {noise_text(each.noise)},
                      verdict_cell(each.verdict)});
  if (rows.empty()) return "";
  return table_text({{"case over its shapes", true},
                     {"type", true},
                     {"provider", true},
                     {"shapes"},
                     {"change"},
                     {"noise"},
                     {"verdict", true}},
                    rows, stdout);
}

std::string rows_text(const suite::Comparison& comparison) {
  std::vector<std::vector<Cell>> rows;
  for (const suite::RowChange& each : comparison.rows)
    if (each.verdict != Verdict::same)
      rows.push_back({{each.case_name},
                      {each.shape},
                      {each.dtype},
                      {each.provider},
                      {fmt::format("{:.1f}", each.old_us)},
                      {fmt::format("{:.1f}", each.new_us)},
                      {fmt::format("{:.2f}x", each.change)},
                      {noise_text(each.noise)},
                      verdict_cell(each.verdict)});
  if (rows.empty()) return "";
  return table_text({{"case", true},
                     {"shape", true},
                     {"type", true},
                     {"provider", true},
                     {"then us"},
                     {"now us"},
                     {"change"},
                     {"noise"},
                     {"verdict", true}},
                    rows, stdout);
}

template <typename Changes>
auto count(const Changes& changes, Verdict verdict) {
  return std::count_if(changes.begin(), changes.end(),
                       [&](const auto& each) { return each.verdict == verdict; });
}

}  // namespace

std::string comparison_text(const suite::Comparison& comparison, const std::string& before) {
  std::string text;
  for (const std::string& part : {cases_text(comparison), rows_text(comparison)})
    if (!part.empty()) text += part + "\n";
  for (const std::string& note : comparison.notes) text += note + "\n";
  const auto slower = count(comparison.rows, Verdict::slower);
  const auto slower_cases = count(comparison.cases, Verdict::slower);
  text += fmt::format(
      "against {}: {} rows slower, {} faster, {} the same; {} cases slower; a row's noise between "
      "the runs is {:.1f}%\n",
      before, slower, count(comparison.rows, Verdict::faster),
      count(comparison.rows, Verdict::same), slower_cases, comparison.noise * 100);
  const auto undecided = std::count_if(comparison.rows.begin(), comparison.rows.end(),
                                       [](const suite::RowChange& row) { return row.undecided; });
  if (undecided)
    text += fmt::format(
        "{} of the same could not be judged: the copy beside them took another time than before\n",
        undecided);
  return text;
}

}  // namespace sinter::cli
