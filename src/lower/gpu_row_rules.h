// The rules that choose how a row is spread over threads, and how far ahead rows are prefetched.
// In: GpuRowFacts. Out: a choice and the rule behind it.
#pragma once

#include <vector>

#include "src/lower/gpu_row_facts.h"
#include "src/lower/rules.h"

namespace sinter {

// A row is held by `group` threads in each of `cluster` blocks of at least `threads` threads.
struct RowChoice {
  int group;
  int cluster;
  int threads;
  bool is_dense = false;  // see Tiling::dense_rows
};
using RowRule = Rule<GpuRowFacts, RowChoice>;
struct RowDecision {
  RowChoice choice;
  RuleText rule;
};
RowDecision decide_row(const GpuRowFacts& row);

// When the rule's choice does not fit a block: the smallest candidate that does.
RuleText first_that_fits();

struct PrefetchFacts {
  const GpuRowFacts& row;
  double waves;  // blocks divided by the blocks resident at once
};
// Prefetch depth in programs. Worth it for long rows with shared operands, which are then loaded
// once per block, or if few waves would leave gaps between them.
using PrefetchRule = Rule<PrefetchFacts, int>;
const PrefetchRule& prefetch_rule(const PrefetchFacts& facts);

inline constexpr char kThreadsPart[] = "threads";
inline constexpr char kPrefetchPart[] = "prefetch";
void list_row_rules(std::vector<RuleText>& texts);

}  // namespace sinter
