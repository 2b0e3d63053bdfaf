// One line for each rule, two for each cell outside of them.
#include "cli/random_text.h"

#include <fmt/format.h>

#include "src/suite/report/random_summary.h"
#include "src/suite/report/rules.h"

namespace sinter::cli {
namespace {

constexpr std::size_t kListed = 10;

std::string share_text(const std::string& what, const suite::Share& share) {
  if (share.of == 0) return fmt::format("{}: no cells\n", what);
  return fmt::format("{}: {} of {} ({:.1f}%), worst {:.2f}x: {}\n", what, share.count, share.of,
                     100.0 * share.count / share.of, share.worst_value, share.worst);
}

std::string outlier_text(const suite::RatedCell& cell) {
  std::string text = fmt::format("  {}:", cell.title);
  if (cell.gain) text += fmt::format(" {:.2f}x the best peer's speed", *cell.gain);
  if (cell.ratio)
    text += fmt::format("{} {:.2f}x the copy's time", cell.gain ? "," : "", *cell.ratio);
  return text + fmt::format("\n    {}\n", cell.command);
}

}  // namespace

std::string random_text(const suite::Results& results) {
  const auto summary = suite::random_summary(results);
  if (!summary) return "";
  const suite::Rules& rules = suite::rules();
  const double megabytes = rules.large_bytes / 1e6;
  std::string text = fmt::format(
      "Random set, seed {}: {} of {} cells measured, {} failed, {} skipped\n", summary->set.seed,
      summary->measured, summary->set.cells, summary->failed, summary->skipped);
  if (summary->not_slower.of == 0)
    text += "no peer was measured: add --peers torch\n";
  else
    text += share_text(
        fmt::format("not slower than the best peer, within {:.0f}%", (rules.noise - 1) * 100),
        summary->not_slower);
  text += share_text(fmt::format("within {:.2f}x of the copy, from {:.0f} MB on",
                                 rules.near_copy_random.large, megabytes),
                     summary->near_large);
  text += share_text(fmt::format("within {:.2f}x of the copy, below {:.0f} MB",
                                 rules.near_copy_random.small, megabytes),
                     summary->near_small);
  const auto& outliers = summary->outliers;
  for (std::size_t i = 0; i < outliers.size() && i < kListed; ++i)
    text += outlier_text(outliers[i]);
  if (outliers.size() > kListed)
    text += fmt::format("  and {} more, in the report\n", outliers.size() - kListed);
  return text;
}

}  // namespace sinter::cli
