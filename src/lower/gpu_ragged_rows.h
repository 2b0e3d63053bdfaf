// Ragged rows: those that the usual rules (gpu_row_rules.h) would pad, or that begin inside a
// vector. In: the row's facts and the usual choice. Out: another choice, where it measures better.
#pragma once

#include <optional>
#include <vector>

#include "src/lower/gpu_row_rules.h"

namespace sinter {

struct RaggedRow {
  const GpuRowFacts& row;
  RowChoice usual;
};
// Not for batch-invariant programs: it depends on the number of rows.
std::optional<RowDecision> ragged_decision(const RaggedRow& ragged);
void list_ragged_rules(std::vector<RuleText>& texts);

}  // namespace sinter
