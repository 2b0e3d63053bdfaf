// The lowering table: which family takes which group, why the others do not, and that every family
// keeps the table's promises.
#include "src/lower/family.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/support/graph_maker.h"

namespace sinter {
namespace {

using testing_support::GraphMaker;

const Machine kGpu{.kind = MachineKind::gpu,
                   .cache_bytes = 50 << 20,
                   .multiprocessors = 132,
                   .largest_cluster = 8,
                   .shared_bytes_per_multiprocessor = 228 << 10};

IterationSpace sum_over(const Shape& shape, std::initializer_list<int> axes) {
  GraphMaker maker;
  maker.output(maker.reduce(ReduceKind::sum, maker.input(shape), axes));
  return iteration_space(make_plan(maker.graph, {}), 0);
}

IterationSpace exponential(const Shape& shape) {
  GraphMaker maker;
  maker.output(maker.op(Op::exp, {maker.input(shape)}));
  return iteration_space(make_plan(maker.graph, {}), 0);
}

std::vector<IterationSpace> spaces() {
  return {exponential({300, 70}),        exponential({}),
          sum_over({300, 70}, {1}),      sum_over({300, 70}, {0}),
          sum_over({8, 30, 70}, {0, 2}), sum_over({2, 1 << 21}, {1})};
}

std::string refusal(std::string_view family, const IterationSpace& space, const Machine& machine) {
  return find_family(family)->offer(space, machine, Wanted::best).refusal;
}

TEST(FamilyTest, ExactlyOneLoopFamilyTakesAGroupAndTheOthersSayWhyNot) {
  for (const Machine& machine : {Machine{}, kGpu})
    for (const IterationSpace& space : spaces()) {
      int accepted = 0;
      for (const Family& family : families()) {
        const Offer offer = family.offer(space, machine, Wanted::all);
        EXPECT_EQ(offer.configs.empty(), !offer.refusal.empty()) << family.name;
        accepted += !offer.configs.empty();
      }
      EXPECT_EQ(accepted, 1);
    }
}

TEST(FamilyTest, RefusalsNameTheReason) {
  EXPECT_EQ(refusal("pointwise", sum_over({300, 70}, {1}), {}), "the group reduces");
  EXPECT_EQ(refusal("row", exponential({8}), {}), "nothing is reduced");
  EXPECT_EQ(refusal("row", sum_over({300, 70}, {0}), kGpu),
            "memory is contiguous along a kept axis");
  EXPECT_EQ(refusal("row", sum_over({8, 30, 70}, {0, 2}), kGpu), "several axes are reduced");
  EXPECT_EQ(refusal("row", sum_over({2, 1 << 21}, {1}), kGpu),
            "a row of 2097152 elements does not fit on chip");
  EXPECT_EQ(refusal("column", sum_over({300, 70}, {1}), kGpu),
            "memory is contiguous along a reduced axis");
  EXPECT_EQ(refusal("chunked", sum_over({300, 70}, {1}), kGpu), "rows fit on chip");
}

TEST(FamilyTest, TheBestOfferIsTheFirstOfAll) {
  for (const Machine& machine : {Machine{}, kGpu})
    for (const IterationSpace& space : spaces())
      for (const Family& family : families()) {
        const Offer best = family.offer(space, machine, Wanted::best);
        const Offer all = family.offer(space, machine, Wanted::all);
        ASSERT_EQ(best.configs.empty(), all.configs.empty()) << family.name;
        if (!best.configs.empty()) {
          EXPECT_EQ(best.configs[0], all.configs[0]) << family.name;
        }
      }
}

TEST(FamilyTest, RowsStandAtTheIndexOfTheirConfig) {
  std::set<std::string_view> names;
  for (const Family& family : families()) EXPECT_TRUE(names.insert(family.name).second);
  for (const IterationSpace& space : spaces())
    for (const Family& family : families())
      for (const Config& config : family.offer(space, kGpu, Wanted::all).configs)
        EXPECT_EQ(family_of(config).name, family.name);
  EXPECT_EQ(find_family("diagonal"), nullptr);
}

TEST(FamilyTest, StoredFieldsAreWithinTheirBounds) {
  for (const IterationSpace& space : spaces())
    for (const Config& config : candidate_configs(space, kGpu, false))
      for (const ConfigField& field : family_of(config).fields) {
        const std::int64_t value = field.get(config);
        EXPECT_GE(value, field.least) << field.name;
        EXPECT_LE(value, field.most) << field.name << " of " << to_string(config);
      }
}

}  // namespace
}  // namespace sinter
