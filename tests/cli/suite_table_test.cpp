// The table at the end of a run, and the list of failures.
#include "cli/suite_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sinter::cli {
namespace {

// x86 gives the NaN of an invalid operation a sign, which must not be shown.
suite::Results wrong_results() {
  suite::ResultRow row;
  row.case_name = "softmax";
  row.shape = "8x16";
  row.dtype = "f32";
  row.provider = "fused";
  row.timing = BenchResult{2.5, 2.25, 2.75, 2.125, 77, 1, {}};
  row.max_rel_err = std::copysign(std::numeric_limits<double>::quiet_NaN(), -1.0);
  row.tolerance = 1e-6;
  suite::Results results;
  results.rows = {row};
  return results;
}

TEST(SuiteTable, ANanHasNoSign) {
  const suite::Results results = wrong_results();
  EXPECT_NE(suite_table(results).find(" nan"), std::string::npos) << suite_table(results);
  EXPECT_EQ(suite_table(results).find("-nan"), std::string::npos) << suite_table(results);
  EXPECT_NE(suite_failures(results).find("relative error nan is above 1.00e-06"), std::string::npos)
      << suite_failures(results);
  EXPECT_NE(to_csv(results).find(",nan,"), std::string::npos) << to_csv(results);
  EXPECT_EQ(to_csv(results).find("-nan"), std::string::npos);
}

TEST(SuiteTable, SaysWhatProbablyBoundsRowsThatAreFar) {
  suite::Results results = wrong_results();
  results.rows[0].max_rel_err = 0;
  results.rows[0].bytes_min = 1 << 20;
  results.rows[0].limit_ratio = suite::LimitRatio{1.1, 1, 1.2};
  EXPECT_EQ(far_text(results), "");
  results.rows[0].limit_ratio = suite::LimitRatio{2, 2, 2};
  EXPECT_EQ(far_text(results),
            "1 fused row is far from the limit, by probable cause: unexplained 1; the report "
            "says why\n");
}

}  // namespace
}  // namespace sinter::cli
