// The memory planner: buffers that are live together never overlap, others share memory.
#include "src/runtime/memory_planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace sinter {
namespace {

bool live_together(const Lifetime& a, const Lifetime& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}

void expect_valid(const std::vector<Lifetime>& lifetimes, const MemoryPlan& plan) {
  ASSERT_EQ(plan.offsets.size(), lifetimes.size());
  for (std::size_t i = 0; i < lifetimes.size(); ++i) {
    EXPECT_EQ(plan.offsets[i] % kPlannedAlignment, 0u);
    EXPECT_LE(plan.offsets[i] + lifetimes[i].bytes, plan.total_bytes);
    for (std::size_t j = 0; j < i; ++j) {
      if (!live_together(lifetimes[i], lifetimes[j])) continue;
      const bool apart = plan.offsets[i] + lifetimes[i].bytes <= plan.offsets[j] ||
                         plan.offsets[j] + lifetimes[j].bytes <= plan.offsets[i];
      EXPECT_TRUE(apart || !lifetimes[i].bytes || !lifetimes[j].bytes) << i << " and " << j;
    }
  }
}

// The most bytes live at one step: a lower bound for any plan.
std::size_t lower_bound(const std::vector<Lifetime>& lifetimes) {
  std::size_t bound = 0;
  for (const Lifetime& at : lifetimes) {
    std::size_t live = 0;
    for (const Lifetime& other : lifetimes)
      if (other.first_step <= at.first_step && at.first_step <= other.last_step)
        live += other.bytes;
    bound = std::max(bound, live);
  }
  return bound;
}

TEST(MemoryPlanner, NothingToPlan) { EXPECT_EQ(plan_memory({}).total_bytes, 0u); }

TEST(MemoryPlanner, ChainNeedsTwoBuffers) {
  std::vector<Lifetime> chain;
  for (int step = 0; step < 10; ++step) chain.push_back({1024, step, step + 1});
  const MemoryPlan plan = plan_memory(chain);
  expect_valid(chain, plan);
  EXPECT_EQ(plan.total_bytes, 2048u);
}

TEST(MemoryPlanner, SmallOnesGoIntoTheSmallestGap) {
  // Steps 0..1 hold a (1024), b (256), c (4096); at step 2 only c's neighbour gaps are free.
  const std::vector<Lifetime> lifetimes = {{4096, 0, 1}, {1024, 0, 3}, {256, 2, 3}, {4096, 2, 3}};
  const MemoryPlan plan = plan_memory(lifetimes);
  expect_valid(lifetimes, plan);
  EXPECT_EQ(plan.total_bytes, 4096u + 1024u + 256u);
}

TEST(MemoryPlanner, ZeroBytesTakeNoRoom) {
  const MemoryPlan plan = plan_memory({{0, 0, 5}, {100, 0, 5}, {0, 2, 3}});
  EXPECT_EQ(plan.total_bytes, 256u);
}

// cuBLASLt's workspace is planned like any other buffer.
TEST(MemoryPlanner, OffsetsSuitTheWorkspaceOfALibrary) {
  const MemoryPlan plan = plan_memory({{1000, 0, 1}, {100, 0, 0}, {10, 0, 1}});
  for (std::size_t offset : plan.offsets) EXPECT_EQ(offset % 256, 0u);
}

TEST(MemoryPlanner, RandomLifetimesNeverOverlapAndShareWell) {
  std::mt19937 random(7);
  for (int round = 0; round < 100; ++round) {
    std::vector<Lifetime> lifetimes(1 + random() % 60);
    std::size_t sum = 0;
    for (Lifetime& lifetime : lifetimes) {
      lifetime.bytes = random() % 8 == 0 ? 0 : random() % 100'000;
      lifetime.first_step = static_cast<int>(random() % 50);
      lifetime.last_step = lifetime.first_step + static_cast<int>(random() % 8);
      sum += lifetime.bytes;
    }
    const MemoryPlan plan = plan_memory(lifetimes);
    expect_valid(lifetimes, plan);
    const std::size_t padding = lifetimes.size() * kPlannedAlignment;
    EXPECT_LE(plan.total_bytes, sum + padding);
    EXPECT_LE(plan.total_bytes, lower_bound(lifetimes) * 3 / 2 + padding);
  }
}

}  // namespace
}  // namespace sinter
