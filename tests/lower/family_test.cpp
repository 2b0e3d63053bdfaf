// The lowering table: which family computes which group, why the others refuse, and that every
// family fulfils the table's contract.
#include "src/lower/family.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "src/graph/matmul_views.h"
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
  EXPECT_EQ(refusal("row", sum_over({3000, 70}, {0}), kGpu),
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

// --- matrix products ---

Operand multiplied(GraphMaker& maker, const Operand& a, const Operand& b) {
  const MatmulViews views = matmul_views(a.view, b.view);
  return maker.build.contract({a.node, views.a}, {b.node, views.b}, views.axes, DType::f32);
}

IterationSpace product(const View& a, const View& b) {
  GraphMaker maker;
  maker.output(multiplied(maker, maker.input_view(a), maker.input_view(b)));
  return iteration_space(make_plan(maker.graph, {}), 0);
}

View square(std::int64_t size) { return dense_view({size, size}); }

Machine with_library(Machine machine) {
  machine.matmul_library = MatmulLibrary::cublaslt;
  return machine;
}

// For the heuristic's choice.
std::string why_chosen(const IterationSpace& space, const Machine& machine) {
  return why_chosen(space, machine, choose_config(space, machine));
}

TEST(FamilyTest, TheLibraryTakesALargeProduct) {
  const IterationSpace large = product(square(256), square(256));
  const Machine gpu = with_library(kGpu);
  EXPECT_EQ(choose_config(large, gpu), Config(LibraryConfig{}));
  EXPECT_EQ(why_chosen(large, gpu), "it gains more than fusing with what follows would");
  const Config generated = find_family("matmul")->offer(large, gpu, Wanted::best).configs.at(0);
  EXPECT_EQ(why_chosen(large, gpu, generated), "it was measured to be faster than cuBLASLt");
}

TEST(FamilyTest, AGeneratedProductNamesTheLibrarysRefusal) {
  const Machine gpu = with_library(kGpu);
  const IterationSpace large = product(square(256), square(256));
  EXPECT_EQ(why_chosen(large, Machine{}), "the device has no cuBLASLt");
  EXPECT_EQ(why_chosen(large, kGpu), "the device has no cuBLASLt");
  EXPECT_EQ(why_chosen(product(square(64), square(64)), gpu), "the product is small");
  EXPECT_EQ(why_chosen(product({{256, 256}, {1024, 2}, 0}, square(256)), gpu),
            "the first operand is contiguous neither along its rows nor along its columns");
  EXPECT_EQ(why_chosen(product(square(256), {{256, 256}, {1024, 2}, 0}), gpu),
            "the second operand is contiguous neither along its rows nor along its columns");
}

TEST(FamilyTest, AProductFusedWithWhatFollowsIsGenerated) {
  GraphMaker maker;
  const Operand x = maker.input({256, 256});
  maker.output(maker.op(Op::relu, {multiplied(maker, x, maker.input({256, 256}))}));
  const IterationSpace fused = iteration_space(make_plan(maker.graph, {}), 0);
  const Config config = choose_config(fused, with_library(kGpu));
  EXPECT_EQ(family_of(config).name, "matmul");
  EXPECT_EQ(why_chosen(fused, with_library(kGpu), config),
            "the product is fused with what follows it");
}

TEST(FamilyTest, NodesRunAloneOnlyWhereAFamilySaysSo) {
  EXPECT_FALSE(alone_rule(kGpu)) << "nothing to ask";
  const AloneRule rule = alone_rule(with_library(kGpu));
  ASSERT_TRUE(rule);
  GraphMaker maker;
  const Shape shape{512, 512};
  const Operand a = maker.input(shape);
  const Operand product = multiplied(maker, a, maker.input(shape));
  const Operand after = maker.op(Op::exp, {product});
  const auto reason = [&](const Operand& operand, const View& result) {
    return rule(maker.graph, maker.graph[operand.node], result);
  };
  EXPECT_EQ(reason(product, dense_view(shape)),
            "the matrix product runs in cuBLASLt, which gains more than fusing would");
  EXPECT_EQ(reason(product, {shape, {1, 512}, 0}), "") << "the library writes rows";
  EXPECT_EQ(reason(after, dense_view(shape)), "");
}

TEST(FamilyTest, OnlyPointwiseKernelsThatDoNotPrefetchAreElementwise) {
  Config pointwise = choose_config(exponential({300, 70}), kGpu);
  EXPECT_TRUE(is_elementwise(pointwise));
  tiling_of(pointwise).mapping.prefetch = 1;
  EXPECT_FALSE(is_elementwise(pointwise));
  EXPECT_FALSE(is_elementwise(choose_config(sum_over({300, 70}, {1}), kGpu)));
}

}  // namespace
}  // namespace sinter
