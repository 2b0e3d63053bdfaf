// compare(): finds a slowdown, ignores noise, and does not blame Sinter for a slower machine.
#include "src/suite/results/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace sinter::suite {
namespace {

constexpr const char* kCases[] = {"softmax", "layernorm", "pointwise_chain", "norm_chain",
                                  "h_red_pw"};
constexpr const char* kShapes[] = {"128x128", "4096x4096", "65536x128", "128x65536"};

// A run whose rows differ from the true time by a random factor with standard deviation `noise`, on
// a machine that is `mood` times as slow.
Results run(unsigned seed, double noise, double mood = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, noise);
  Results results;
  for (const char* name : kCases)
    for (const char* shape : kShapes)
      for (const char* provider : {"eager", "fused"}) {
        ResultRow row;
        row.case_name = name;
        row.shape = shape;
        row.dtype = "f32";
        row.provider = provider;
        const double us =
            mood * (std::string(provider) == "fused" ? 100 : 300) * std::exp(normal(random));
        const double limit = mood * 80 * std::exp(normal(random));
        row.timing = BenchResult{};
        row.timing->median_us = us;
        row.timing->p20_us = us * (1 - noise);
        row.timing->p80_us = us * (1 + noise);
        row.timing->min_us = us * (1 - noise);
        row.limit_us = limit;
        row.limit_ratio =
            LimitRatio{us / limit, us / limit * (1 - noise), us / limit * (1 + noise)};
        results.rows.push_back(row);
      }
  return results;
}

void slow_down(Results& results, const std::string& name, double factor) {
  for (ResultRow& row : results.rows) {
    if (!name.empty() && (row.case_name != name || row.provider != "fused")) continue;
    BenchResult& timing = *row.timing;
    LimitRatio& ratio = *row.limit_ratio;
    for (double* value : {&timing.median_us, &timing.p20_us, &timing.p80_us, &timing.min_us,
                          &ratio.median, &ratio.p20, &ratio.p80})
      *value *= factor;
  }
}

int slower_rows(const Comparison& comparison, const std::string& name) {
  int count = 0;
  for (const RowChange& row : comparison.rows)
    count += row.verdict == Verdict::slower && (name.empty() || row.case_name == name);
  return count;
}

bool case_is_slower(const Comparison& comparison, const std::string& name) {
  for (const CaseChange& each : comparison.cases)
    if (each.case_name == name && each.provider == "fused") return each.verdict == Verdict::slower;
  return false;
}

TEST(Compare, ARunAgainOfTheSameBuildIsNotFlagged) {
  for (double noise : {0.0, 0.02, 0.05, 0.1}) {
    int flagged = 0;
    for (unsigned seed = 1; seed <= 100; ++seed)
      flagged += compare(run(seed, noise), run(seed + 1000, noise)).is_worse();
    EXPECT_LE(flagged, 5) << noise;
  }
}

TEST(Compare, RunsOfOtherSeedsSaySo) {
  Results before = run(1, 0);
  Results now = run(1, 0);
  before.random = now.random = RandomSet{7, 4, {"softmax"}, {"f32"}, 1 << 26, 1 << 30};
  EXPECT_TRUE(compare(before, now).notes.empty());
  now.random->seed = 8;
  ASSERT_EQ(compare(before, now).notes.size(), 1u);
  EXPECT_NE(compare(before, now).notes[0].find("'seed 7 over softmax"), std::string::npos);
}

TEST(Compare, TwentyPercentInOneCaseAreFound) {
  for (double noise : {0.0, 0.01, 0.02})
    for (unsigned seed = 1; seed <= 20; ++seed) {
      Results now = run(seed + 100, noise);
      slow_down(now, "layernorm", 1.2);
      const Comparison comparison = compare(run(seed, noise), now);
      EXPECT_TRUE(case_is_slower(comparison, "layernorm")) << noise << " " << seed;
      EXPECT_EQ(slower_rows(comparison, ""), slower_rows(comparison, "layernorm"));
      if (noise <= 0.01) {
        EXPECT_EQ(slower_rows(comparison, "layernorm"), 4) << noise << " " << seed;
      }
    }
}

TEST(Compare, ASlowDownOfEverythingIsFound) {
  const Results before = run(1, 0.01);
  Results now = run(2, 0.01);
  slow_down(now, "", 1.2);
  EXPECT_EQ(slower_rows(compare(before, now), ""), 40);
}

TEST(Compare, ASlowerMachineIsNotBlamed) {
  EXPECT_FALSE(compare(run(1, 0.01), run(2, 0.01, 1.3)).is_worse());
}

TEST(Compare, AFasterCopyAloneIsNoSlowDown) {
  const Results before = run(1, 0.01);
  Results now = run(2, 0.01);
  for (ResultRow& row : now.rows) {
    *row.limit_us *= 0.7;
    row.limit_ratio->median /= 0.7;
  }
  EXPECT_FALSE(compare(before, now).is_worse());
}

TEST(Compare, ASlowDownOnAFasterMachineIsUndecided) {
  Results now = run(2, 0.01, 0.7);
  slow_down(now, "layernorm", 1.2);
  const Comparison comparison = compare(run(1, 0.01), now);
  EXPECT_FALSE(comparison.is_worse());
  for (const RowChange& row : comparison.rows)
    EXPECT_EQ(row.undecided, row.case_name == "layernorm" && row.provider == "fused")
        << row.case_name << " " << row.shape;
}

TEST(Compare, SpeedUpsAreToldToo) {
  const Results before = run(1, 0.01);
  Results now = run(2, 0.01);
  slow_down(now, "softmax", 0.7);
  const Comparison comparison = compare(before, now);
  EXPECT_FALSE(comparison.is_worse());
  int faster = 0;
  for (const RowChange& row : comparison.rows) faster += row.verdict == Verdict::faster;
  EXPECT_EQ(faster, 4);
}

TEST(Compare, IncomparableRowsAreNoted) {
  Results before = run(1, 0);
  Results now = run(1, 0);
  now.description = "another machine";
  before.rows.erase(before.rows.begin());
  now.rows.pop_back();
  now.rows[5].timing.reset();
  const Comparison comparison = compare(before, now);
  EXPECT_EQ(comparison.rows.size(), 37u);
  ASSERT_EQ(comparison.notes.size(), 3u);
  EXPECT_NE(comparison.notes[0].find("another machine"), std::string::npos);
  EXPECT_NE(comparison.notes[1].find("1 row new"), std::string::npos);
  EXPECT_NE(comparison.notes[2].find("2 rows of the older run"), std::string::npos);
  EXPECT_FALSE(compare({}, {}).is_worse());
}

TEST(Compare, AFailureIsWorseAndAWrongResultHasNoSpeed) {
  const Results before = run(1, 0);
  Results now = run(1, 0);
  now.rows[0].error = "it crashed";
  now.rows[0].timing.reset();
  now.rows[1].tolerance = 1e-6;
  now.rows[1].max_rel_err = 1;
  const Comparison comparison = compare(before, now);
  EXPECT_EQ(comparison.failed_now, 2u);
  EXPECT_TRUE(comparison.is_worse());
  EXPECT_EQ(comparison.rows.size(), 38u);
}

TEST(Compare, PeersAreNotJudged) {
  Results before = run(1, 0);
  for (ResultRow& row : before.rows)
    if (row.provider == "eager") row.provider = "torch_eager";
  Results now = before;
  for (ResultRow& row : now.rows)
    if (row.is_peers()) row.timing->min_us *= 3;
  const Comparison comparison = compare(before, now);
  EXPECT_EQ(comparison.rows.size(), 20u);
  EXPECT_FALSE(comparison.is_worse());
}

}  // namespace
}  // namespace sinter::suite
