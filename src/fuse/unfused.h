// Unfused edges: values that go through memory between two kernels, and why.
// In: a Plan with its groups, and the Grouping that made them. Out: edges for explain().
#pragma once

#include <vector>

#include "src/fuse/grouping.h"
#include "src/fuse/plan.h"

namespace sinter {

std::vector<UnfusedEdge> unfused_edges(const Plan& plan, const Grouping& grouping, bool fuse);

// Tensors that two groups without an unfused edge between them read. The plan has its edges.
std::vector<SharedRead> shared_reads(const Plan& plan, const Grouping& grouping, bool fuse);

}  // namespace sinter
