// Which groups share tuning results, and how a choice is found among the candidates of a space.
#include "src/tune/signature.h"

#include <gtest/gtest.h>

#include "src/tune/choice.h"
#include "tests/support/graph_maker.h"

namespace sinter {
namespace {

using testing_support::along_rows;
using testing_support::expanded;
using testing_support::GraphMaker;
using testing_support::transposed;

struct Group {
  Plan plan;
  IterationSpace space;
  std::string signature;
};

Group group_of(const Graph& graph, int group = 0) {
  Group result{make_plan(graph, {}), {}, ""};
  result.space = iteration_space(result.plan, group);
  result.signature = group_signature(result.plan, group, result.space);
  return result;
}

// exp(x - max(x)) along the rows.
Group shifted(std::int64_t rows, std::int64_t cols, DType dtype = DType::f32,
              ReduceKind kind = ReduceKind::max) {
  GraphMaker maker;
  const Operand x = maker.input({rows, cols}, dtype);
  const Operand most = maker.reduce(kind, x, {1});
  maker.output(maker.op(Op::exp, {maker.op(Op::sub, {x, along_rows(most, cols)})}));
  return group_of(maker.graph);
}

Group scaled(double factor, std::int64_t size = 4096, std::int64_t offset = 0) {
  GraphMaker maker;
  const Operand x = maker.input_view({{size}, {1}, offset});
  maker.output(maker.op(Op::mul, {x, maker.number(factor, {size})}));
  return group_of(maker.graph);
}

TEST(SignatureTest, BeginsWithAReadableSummary) {
  const std::string text = shifted(4096, 1024).signature;
  EXPECT_TRUE(text.starts_with("2^12 2^10r f32: max sub exp #")) << text;
}

TEST(SignatureTest, StaysTheSameFromVersionToVersion) {
  // Changing this invalidates shipped files: do it on purpose only.
  EXPECT_EQ(shifted(4096, 1024).signature, "2^12 2^10r f32: max sub exp #cd5cf9dc51d6a1fc");
}

TEST(SignatureTest, SizesCountByThePowerOfTwoAbove) {
  EXPECT_EQ(shifted(4096, 1024).signature, shifted(2049, 1008).signature);
  EXPECT_NE(shifted(4096, 1024).signature, shifted(4097, 1024).signature);
  EXPECT_NE(shifted(4096, 1024).signature, shifted(4096, 512).signature);
}

TEST(SignatureTest, OperationsTypesAndDivisibilityCount) {
  const std::string base = shifted(4096, 1024).signature;
  EXPECT_NE(base, shifted(4096, 1024, DType::f16).signature);
  EXPECT_NE(base, shifted(4096, 1024, DType::f32, ReduceKind::min).signature);
  EXPECT_NE(base, shifted(4096, 1023).signature) << "no vectors";
  EXPECT_NE(shifted(4096, 1022).signature, shifted(4096, 1023).signature);
  EXPECT_NE(scaled(2, 4096, 0).signature, scaled(2, 4096, 1).signature) << "where it begins";
}

TEST(SignatureTest, LayoutsCount) {
  const auto sum_with = [](bool transpose) {
    GraphMaker maker;
    const Operand x = maker.input({512, 512});
    const Operand y = maker.input({512, 512});
    maker.output(maker.op(Op::add, {x, transpose ? transposed(y) : y}));
    return group_of(maker.graph).signature;
  };
  EXPECT_NE(sum_with(false), sum_with(true));
}

TEST(SignatureTest, WindowsOfPaddedViewsCount) {
  const auto padded = [](std::int64_t before) {
    GraphMaker maker;
    const Operand x = maker.input({64, 504 + (before == 0 ? 8 : 0)});
    const View view = before == 0 ? x.view : *pad(x.view, 1, before, 8 - before, Scalar::of(0.0));
    maker.output(maker.op(Op::exp, {{x.node, view}}));
    return group_of(maker.graph).signature;
  };
  EXPECT_NE(padded(0), padded(4));
  EXPECT_NE(padded(4), padded(3)) << "vectors depend on where the window begins";
}

TEST(SignatureTest, ConstantsDoNotCount) { EXPECT_EQ(scaled(2).signature, scaled(3).signature); }

TEST(SignatureTest, WhichOperandIsReadTwiceCounts) {
  const auto of = [](bool left) {
    GraphMaker maker;
    const Operand x = maker.input({4096});
    const Operand y = maker.input({4096});
    maker.output(maker.op(Op::sub, {maker.op(Op::mul, {x, y}), left ? x : y}));
    return group_of(maker.graph).signature;
  };
  EXPECT_NE(of(true), of(false));
}

TEST(SignatureTest, OtherGroupsOfTheProgramDoNotCount) {
  GraphMaker maker;
  maker.output(maker.op(Op::exp, {maker.input({64, 64}, DType::f64)}));
  const Operand x = maker.input({4096});
  maker.output(maker.op(Op::mul, {x, maker.number(2, {4096})}));
  EXPECT_EQ(group_of(maker.graph, 1).signature, scaled(2).signature);
}

// A field of a choice.
std::int64_t& value(TunedChoice& choice, std::string_view name) {
  const std::span<const ConfigField> fields = find_family(choice.family)->fields;
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (name == fields[i].name) return choice.values[i];
  ADD_FAILURE() << name;
  return choice.values[0];
}

// Why the values of a choice are refused; empty if they are not.
std::string refusals(const TunedChoice& choice) {
  std::string text;
  const std::span<const ConfigField> fields = find_family(choice.family)->fields;
  for (std::size_t i = 0; i < fields.size(); ++i) text += refusal_of(fields[i], choice.values[i]);
  return text;
}

Machine gpu() {
  Machine machine;
  machine.kind = MachineKind::gpu;
  machine.multiprocessors = 132;
  machine.largest_cluster = 8;
  return machine;
}

TEST(ChoiceTest, EveryCandidateIsFoundAgainAndIsNoRefusal) {
  for (const Group& group : {shifted(4096, 4096), shifted(128, 65536), shifted(4096, 100),
                             scaled(2, 1 << 24), scaled(2, 1)}) {
    const std::vector<Config> all = candidate_configs(group.space, gpu(), false);
    for (const Config& each : all) {
      EXPECT_EQ(refusals(choice_of(each)), "") << to_string(each);
      ASSERT_TRUE(matching(choice_of(each), all)) << to_string(each);
      EXPECT_EQ(choice_of(*matching(choice_of(each), all)), choice_of(each));
    }
  }
}

TEST(ChoiceTest, FollowsTheLengthOfRows) {
  const Group tuned = shifted(4096, 4096);
  const Group used = shifted(4096, 3072);
  ASSERT_EQ(tuned.signature, used.signature);
  const std::vector<Config> all = candidate_configs(used.space, gpu(), false);
  const Config heuristic = choose_config(tuned.space, gpu());
  const std::optional<Config> found = matching(choice_of(heuristic), all);
  ASSERT_TRUE(found) << to_string(heuristic);
  EXPECT_EQ(tiling_of(*found).mapping.threads_per_row,
            tiling_of(heuristic).mapping.threads_per_row);
  EXPECT_GE(tiling_of(*found).tile_cols, 3072);
  EXPECT_LT(tiling_of(*found).tile_cols, 4096);
}

TEST(ChoiceTest, UnknownChoicesMatchNoCandidate) {
  const Group group = shifted(4096, 4096);
  const std::vector<Config> all = candidate_configs(group.space, gpu(), false);
  TunedChoice choice = choice_of(all.front());
  choice.family = "column";
  EXPECT_FALSE(matching(choice, all));
  choice = choice_of(all.front());
  value(choice, "threads") = value(choice, "threads_per_row") = 4;
  EXPECT_FALSE(matching(choice, all));
}

TEST(ChoiceTest, AbsurdOnesAreRefused) {
  const TunedChoice good = choice_of(choose_config(shifted(4096, 4096).space, gpu()));
  const auto refusal = [&](auto change) {
    TunedChoice choice = good;
    change(choice);
    return refusals(choice);
  };
  EXPECT_NE(refusal([](auto& c) { value(c, "threads") = 1 << 20; }), "");
  EXPECT_NE(refusal([](auto& c) { value(c, "threads") = 96; }), "");
  EXPECT_NE(refusal([](auto& c) { value(c, "threads") = -128; }), "");
  EXPECT_NE(refusal([](auto& c) { value(c, "threads_per_row") = 2048; }), "");
  EXPECT_NE(refusal([](auto& c) { value(c, "threads_per_row") = 0; }), "");
  EXPECT_NE(refusal([](auto& c) { value(c, "vector") = 3; }), "");
  EXPECT_NE(refusal([](auto& c) { value(c, "cluster") = 16; }), "");
  EXPECT_NE(refusal([](auto& c) { value(c, "tile_rows") = 3; }), "");
  EXPECT_NE(refusal([](auto& c) { value(c, "vectors") = 1 << 20; }), "");
}

}  // namespace
}  // namespace sinter
