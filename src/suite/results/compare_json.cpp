// A comparison for programs and for the report.
#include "src/suite/results/compare_json.h"

namespace sinter::suite {

nlohmann::ordered_json to_json(const Comparison& comparison) {
  using Json = nlohmann::ordered_json;
  Json json{{"worse", comparison.is_worse()}, {"failed_now", comparison.failed_now},
            {"noise", comparison.noise},      {"notes", comparison.notes},
            {"cases", Json::array()},         {"rows", Json::array()}};
  for (const CaseChange& each : comparison.cases)
    json["cases"].push_back({{"case", each.case_name},
                             {"dtype", each.dtype},
                             {"provider", each.provider},
                             {"rows", each.rows},
                             {"change", each.change},
                             {"noise", each.noise},
                             {"verdict", name_of(each.verdict)}});
  for (const RowChange& each : comparison.rows)
    json["rows"].push_back({{"case", each.case_name},
                            {"shape", each.shape},
                            {"dtype", each.dtype},
                            {"provider", each.provider},
                            {"old_us", each.old_us},
                            {"new_us", each.new_us},
                            {"change", each.change},
                            {"noise", each.noise},
                            {"verdict", name_of(each.verdict)},
                            {"undecided", each.undecided}});
  return json;
}

}  // namespace sinter::suite
