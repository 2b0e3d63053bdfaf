// Online softmax sums: computes sum(exp(u - max(u))) in the same pass over u as the maximum, by
// rescaling the sum whenever the maximum grows. In: a group. Out: its online sums; tile operations.
#pragma once

#include <map>

#include "src/fuse/plan.h"
#include "src/tile/builder.h"

namespace sinter {

// The group's sums of the form sum(exp(u - max(u))), keyed by the maximum.
std::map<NodeId, NodeId> online_sums(const Plan& plan, GroupId group);

// Running state of each lane: the maximum so far, and the sum of exp(u - top). It starts at (lowest
// finite number, 0), so that no difference is ever -inf - -inf.
struct OnlineSum {
  tile::ValueId top = tile::kNoValue;
  tile::ValueId sum = tile::kNoValue;
};

OnlineSum online_start(tile::Builder& b, DType dtype);
OnlineSum online_element(tile::Builder& b, tile::ValueId u);
OnlineSum online_join(tile::Builder& b, const OnlineSum& left, const OnlineSum& right);
// The final maximum and sum, NaN where two passes would give NaN: per column, or over all columns
// if `along_columns`.
OnlineSum online_total(tile::Builder& b, const OnlineSum& lanes, bool along_columns);

}  // namespace sinter
