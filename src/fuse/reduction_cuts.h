// How a reduction with too few results for the workers is cut into parts. In: a reduction and
// FusionOptions. Out: the axis to cut and its parts, or nothing. Batch-invariant programs cut by
// the elements of one result, however many results there are.
#pragma once

#include <cstdint>
#include <optional>

#include "src/fuse/plan.h"

namespace sinter {

// Part i covers `size` elements of the axis from i * step on. All parts have the same size, so that
// one kernel computes them: if they do not divide the axis, each but the last overlaps the next
// one, by a small part of its size.
struct Cut {
  int axis = -1;
  std::int64_t count = 0;
  std::int64_t step = 0;
  std::int64_t size = 0;

  bool overlaps() const { return size > step; }
};

class CutChooser {
 public:
  explicit CutChooser(const FusionOptions& options)
      : options_(options), parallelism_(options.parallelism) {}

  std::optional<Cut> choose(const Node& reduction) const;
  // For the partial results of such parts, where columns would walk too many of them.
  std::optional<Cut> choose_for_partials(const Shape& partials, int axis) const;

  // Results are computed in tiles. If there are fewer tiles than workers, each worker sums a part
  // of the contracted axis (split-K). The parts do not overlap and may leave a rest.
  std::optional<Cut> choose_for_contraction(const Graph& graph, const Node& contraction) const;

 private:
  bool walks_rows(const Node& reduction) const;
  bool is_worth_cutting(const Node& reduction) const;
  Cut cut_axis(const Node& reduction, int axis) const;
  std::int64_t fewest_parts(std::int64_t tasks) const;
  std::int64_t tasks_of(const Node& reduction) const;

  const FusionOptions& options_;
  const int parallelism_;
};

}  // namespace sinter
