// Which sums are computed in their maximum's pass, how many passes remain, and their values from
// the interpreter.
#include "src/lower/online.h"

#include <gtest/gtest.h>

#include <functional>

#include "src/graph/simplify.h"
#include "src/lower/family.h"
#include "tests/support/graph_maker.h"
#include "tests/support/online_programs.h"

namespace sinter {
namespace {

using testing_support::along_rows;
using testing_support::GraphMaker;
using testing_support::hard_rows;
using testing_support::looping_config;
using testing_support::online_programs;
using testing_support::OnlineProgram;

int loops_of(const Kernel& kernel) {
  int count = 0;
  tile::for_each_instr(kernel.program().body, [&](const tile::Instr& instr) {
    count += instr.code == tile::Code::loop ? 1 : 0;
  });
  return count;
}

TEST(OnlineSumTest, SavesAPassForEachMaximum) {
  for (int axis : {0, 1})
    for (const OnlineProgram& program : online_programs(5, 100, DType::f32, axis)) {
      SCOPED_TRACE(program.name + " over axis " + std::to_string(axis));
      const Plan plan = make_plan(simplify(program.graph), {});
      const IterationSpace space = iteration_space(plan, 0);
      EXPECT_TRUE(space.has_online_sums);
      for (bool online : {true, false}) {
        const Kernel kernel = lower(plan, 0, space, looping_config(space, online));
        EXPECT_EQ(kernel.passes, online ? program.passes : program.plain_passes);
        // Columns take several trips at once, and what is left over in a loop of its own.
        EXPECT_EQ(loops_of(kernel), axis == 0 ? 2 * kernel.passes : kernel.passes);
      }
    }
}

TEST(OnlineSumTest, IsRightOnHardRows) {
  for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16})
    for (int axis : {0, 1}) {
      SCOPED_TRACE(std::string(name_of(dtype)) + " over axis " + std::to_string(axis));
      testing_support::expect_online_right(dtype, axis);
    }
}

// The reference has some NaN rows, but not only those.
TEST(OnlineSumTest, HardRowsHaveInfinitiesAndNans) {
  const auto program = online_programs(11, 50, DType::f32)[0];
  const auto expected =
      testing_support::evaluate(program.graph, {hard_rows(11, 50, DType::f32)})[0];
  int rows = 0;
  for (std::size_t row = 0; row < 11; ++row) rows += std::isnan(expected[row * 50]) ? 1 : 0;
  EXPECT_EQ(rows, 4) << "all -inf, one inf, NaN, all inf";
}

// Number of online sums found for the sum of `element` over rows.
std::size_t found(
    const std::function<Operand(GraphMaker&, const Operand& x, const Operand& top)>& element,
    DType dtype = DType::f32, ReduceKind top = ReduceKind::max) {
  GraphMaker maker;
  const Operand x = maker.input({4, 50}, dtype);
  const Operand extreme = along_rows(maker.reduce(top, x, {1}), 50);
  maker.output(maker.reduce(ReduceKind::sum, element(maker, x, extreme), {1}));
  const Plan plan = make_plan(maker.graph, {});
  EXPECT_EQ(plan.groups.size(), 1u);
  return online_sums(plan, 0).size();
}

Operand power(GraphMaker& maker, const Operand& x, const Operand& top) {
  return maker.op(Op::exp, {maker.op(Op::sub, {x, top})});
}

TEST(OnlineSumTest, OnlyExponentialsBelowTheMaximumOfTheSameElementsAre) {
  const Shape shape{4, 50};
  EXPECT_EQ(found(power), 1u);
  EXPECT_EQ(found(power, DType::bf16), 1u);
  EXPECT_EQ(found(power, DType::f32, ReduceKind::min), 0u);
  const auto of_integers = [](GraphMaker& maker, const Operand& x, const Operand& top) {
    return maker.op(Op::exp, {maker.cast(maker.op(Op::sub, {x, top}), DType::f32)});
  };
  EXPECT_EQ(found(of_integers, DType::i32), 0u) << "no -inf to start from";
  EXPECT_EQ(found([&](GraphMaker& maker, const Operand& x, const Operand& top) {
              return power(maker, maker.op(Op::mul, {x, maker.number(2, shape)}), top);
            }),
            0u)
      << "the maximum is of other elements";
  EXPECT_EQ(found([&](GraphMaker& maker, const Operand& x, const Operand& top) {
              return maker.op(Op::mul, {power(maker, x, top), x});
            }),
            0u)
      << "a factor";
  EXPECT_EQ(found([](GraphMaker& maker, const Operand& x, const Operand& top) {
              return maker.op(Op::exp, {maker.op(Op::sub, {top, x})});
            }),
            0u)
      << "above it";
  EXPECT_EQ(found([](GraphMaker& maker, const Operand& x, const Operand& top) {
              return maker.cast(maker.cast(power(maker, x, top), DType::f16), DType::f32);
            }),
            0u)
      << "a rounding that the program asks for";
}

const Machine kHopper{.kind = MachineKind::gpu,
                      .cache_bytes = 50 << 20,
                      .multiprocessors = 132,
                      .largest_cluster = 8};

TEST(OnlineSumTest, GpusTakeItWhereNothingHoldsTheRow) {
  const auto config_of = [](std::int64_t rows, std::int64_t cols, const Machine& machine) {
    const Plan plan = make_plan(online_programs(rows, cols, DType::f32)[0].graph, {});
    return choose_config(iteration_space(plan, 0), machine);
  };
  EXPECT_TRUE(std::holds_alternative<ChunkedConfig>(config_of(256, 300000, kHopper)));
  EXPECT_TRUE(is_online(config_of(256, 300000, kHopper)));
  EXPECT_FALSE(is_online(config_of(256, 200000, kHopper))) << "a cluster holds it";
  EXPECT_FALSE(is_online(config_of(256, 300000, {}))) << "a CPU reads it from its cache";
}

TEST(OnlineSumTest, TuningTriesBoth) {
  const Plan plan = make_plan(online_programs(256, 300000, DType::f32)[0].graph, {});
  const IterationSpace space = iteration_space(plan, 0);
  int online = 0;
  int plain = 0;
  for (const Config& config : candidate_configs(space, kHopper, false))
    ++(is_online(config) ? online : plain);
  EXPECT_GT(online, 0);
  EXPECT_GT(plain, 0);
  for (const Config& config : candidate_configs(space, kHopper, true))
    EXPECT_TRUE(is_online(config)) << "another order of additions has other bits";
}

}  // namespace
}  // namespace sinter
