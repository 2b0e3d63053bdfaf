// JSON printing shared by the commands.
#include "cli/json_output.h"

#include <fmt/format.h>

#include "src/suite/cases/case.h"

namespace sinter::cli {

std::string json_text(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void print_json(const Json& json) { fmt::print("{}", json_text(json)); }

Json rules_json(const std::vector<PlanRule>& rules) {
  Json json = Json::array();
  for (const PlanRule& rule : rules)
    json.push_back({{"part", rule.part}, {"name", rule.name}, {"reason", rule.reason}});
  return json;
}

std::string cases_json() {
  Json list = Json::array();
  for (const suite::Case& each : suite::all_cases())
    list.push_back({{"case", each.name}, {"formula", each.formula}, {"runs", true}});
  for (const suite::PendingCase& each : suite::pending_cases())
    list.push_back({{"case", each.name}, {"runs", false}, {"reason", each.reason}});
  return json_text(list);
}

}  // namespace sinter::cli
