// Rules: ordered tables that choose one part of a config. In: facts about a group and a machine.
// Out: the choice of the first rule whose condition holds, and its name and reason for explain().
// Conditions speak of what a program does, of bytes, rows per multiprocessor, registers and waves;
// what holds for a single size only belongs in a tuning file.
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

#include "src/base/check.h"

namespace sinter {

// A rule as people read it.
struct RuleText {
  const char* part;    // of the config: "threads", "prefetch", "L2 cache", ..
  const char* name;    // when it applies, in a few words
  const char* reason;  // the measurement or the argument behind it; "judgement" if there is none
};

template <typename Facts, typename Choice>
struct Rule {
  const char* name;
  bool (*applies)(const Facts& facts);
  Choice (*choose)(const Facts& facts);
  const char* reason;
};

// The table's last rule applies to everything that the others leave.
template <typename Table, typename Facts>
const auto& first_rule(const Table& table, const Facts& facts) {
  const auto found = std::find_if(std::begin(table), std::end(table),
                                  [&](const auto& rule) { return rule.applies(facts); });
  SINTER_ASSERT(found != std::end(table), "no rule applies");
  return *found;
}

template <typename AnyRule>
RuleText text_of(const char* part, const AnyRule& rule) {
  return {part, rule.name, rule.reason};
}

template <typename Table>
void list_rules(const char* part, const Table& table, std::vector<RuleText>& texts) {
  for (const auto& rule : table) texts.push_back(text_of(part, rule));
}

// Every rule of every table, in order. docs/CONFIG_RULES.md is generated from it.
std::vector<RuleText> config_rules();

}  // namespace sinter
