// Online sums: sum(exp(u - max(u))) made in the same pass over u as the maximum, by correcting the
// sum whenever a greater u comes. In: a group. Out: which of its sums allow that; tile operations.
#pragma once

#include <map>

#include "src/fuse/plan.h"
#include "src/tile/builder.h"

namespace sinter {

// Sums of exponentials below a maximum over the same elements, by that maximum.
std::map<NodeId, NodeId> online_sums(const Plan& plan, int group);

// Of the elements seen so far, lane by lane: the greatest, and the sum of exp(u - top). That is
// (the least finite number, 0) before the first finite element: no difference is ever -inf - -inf.
struct OnlineSum {
  tile::ValueId top = tile::kNoValue;
  tile::ValueId sum = tile::kNoValue;
};

OnlineSum online_start(tile::Builder& b, DType dtype);
OnlineSum online_element(tile::Builder& b, tile::ValueId u);
OnlineSum online_join(tile::Builder& b, const OnlineSum& left, const OnlineSum& right);
// The maximum and the sum as two passes would give them, NaN where these do: of each column, or of
// all columns together.
OnlineSum online_total(tile::Builder& b, const OnlineSum& lanes, bool along_columns);

}  // namespace sinter
