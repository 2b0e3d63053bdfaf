// Batch-invariant programs at the level of plans and configs: for any number of rows, the same
// splits of reductions, the same families, and configs that add in the same order.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "src/graph/simplify.h"
#include "src/lower/family.h"
#include "src/lower/tiling_fields.h"
#include "tests/support/graph_maker.h"

namespace sinter {
namespace {

using testing_support::along_rows;
using testing_support::expanded;
using testing_support::GraphMaker;

const Machine kHopper{.kind = MachineKind::gpu,
                      .cache_bytes = 50 << 20,
                      .multiprocessors = 132,
                      .largest_cluster = 8,
                      .shared_bytes_per_multiprocessor = 228 << 10};
const Machine kAmpere{.kind = MachineKind::gpu,
                      .cache_bytes = 40 << 20,
                      .multiprocessors = 108,
                      .shared_bytes_per_multiprocessor = 164 << 10};

Operand softmax(GraphMaker& maker, const Operand& x) {
  const std::int64_t columns = x.view.shape[1];
  const Operand top = maker.reduce(ReduceKind::max, x, {1});
  const Operand power = maker.op(Op::exp, {maker.op(Op::sub, {x, along_rows(top, columns)})});
  const Operand total = maker.reduce(ReduceKind::sum, power, {1});
  return maker.op(Op::div, {power, along_rows(total, columns)});
}

using Program = Graph (*)(std::int64_t rows, std::int64_t length, DType dtype);

Graph softmax_rows(std::int64_t rows, std::int64_t length, DType dtype) {
  GraphMaker maker;
  maker.output(softmax(maker, maker.input({rows, length}, dtype)));
  return maker.graph;
}
Graph scaled_softmax(std::int64_t rows, std::int64_t length, DType dtype) {
  GraphMaker maker;
  const Operand x = maker.input({rows, length}, dtype);
  const Operand weights = maker.input({length}, dtype);
  maker.output(maker.op(Op::mul, {softmax(maker, x), expanded(weights, x.view.shape)}));
  return maker.graph;
}
Graph row_sum(std::int64_t rows, std::int64_t length, DType dtype) {
  GraphMaker maker;
  maker.output(maker.reduce(ReduceKind::sum, maker.input({rows, length}, dtype), {1}));
  return maker.graph;
}
// A slice of longer rows, from an odd element on.
Graph sliced_row_sum(std::int64_t rows, std::int64_t length, DType dtype) {
  GraphMaker maker;
  const Operand x = maker.input_view({{rows, length}, {length + 5, 1}, 3}, dtype);
  maker.output(maker.reduce(ReduceKind::sum, x, {1}));
  maker.output(maker.op(Op::exp, {x}));
  return maker.graph;
}
// Rows that lie across memory.
Graph strided_row_sum(std::int64_t rows, std::int64_t length, DType dtype) {
  GraphMaker maker;
  const Operand x = maker.input_view({{rows, length}, {1, rows}, 0}, dtype);
  maker.output(maker.reduce(ReduceKind::sum, x, {1}));
  return maker.graph;
}
Graph column_sum(std::int64_t rows, std::int64_t length, DType dtype) {
  GraphMaker maker;
  maker.output(maker.reduce(ReduceKind::sum, maker.input({length, rows}, dtype), {0}));
  return maker.graph;
}
Graph sum_around(std::int64_t rows, std::int64_t length, DType dtype) {
  GraphMaker maker;
  maker.output(maker.reduce(ReduceKind::sum, maker.input({4, rows, length}, dtype), {0, 2}));
  return maker.graph;
}
Graph product(std::int64_t rows, std::int64_t length, DType dtype) {
  GraphMaker maker;
  const Operand a = maker.input({rows, length}, dtype);
  const Operand b = maker.input({24, length}, dtype);
  const Shape all{rows, 24, length};
  maker.output(maker.build.contract({a.node, {all, {length, 0, 1}, 0}},
                                    {b.node, {all, {0, length, 1}, 0}}, 4, dtype));
  return maker.graph;
}

struct Chosen {
  std::string splits;  // of reductions: the lengths that kernels reduce
  std::vector<Config> configs;
};

Chosen choose(const Graph& graph, const Machine& machine) {
  FusionOptions options = fusion_options(true, machine.multiprocessors, machine);
  make_batch_invariant(options);
  const Plan plan = make_plan(drop_unit_axes(note_kept_axes(graph)), options);
  Chosen chosen;
  for (GroupId g = 0; g < plan.groups.end_id(); ++g) {
    const IterationSpace space = iteration_space(plan, g);
    if (space.reductions == 0) continue;
    for (AxisId axis : space.reduced_axes())
      if (space.size(axis) > 1) chosen.splits += fmt::format("{} ", space.size(axis));
    chosen.splits += "| ";
    chosen.configs.push_back(choose_config(space, machine));
    for (const Config& config : candidate_configs(space, machine, false))
      EXPECT_TRUE(family_of(config).same_bits(chosen.configs.back(), config)) << "of the tuner";
  }
  return chosen;
}

// In the other families a thread adds up its own columns, one after the other.
bool adds_across_threads(const Config& config) {
  return std::holds_alternative<RowConfig>(config) || std::holds_alternative<ChunkedConfig>(config);
}

TEST(BatchInvariantConfigs, DependOnTheLengthOfRowsOnly) {
  for (const Machine& machine : {kHopper, kAmpere})
    for (const Program program : {softmax_rows, scaled_softmax, row_sum, sliced_row_sum,
                                  strided_row_sum, column_sum, sum_around, product})
      for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64})
        for (const std::int64_t length : {1, 2, 3, 17, 60, 128, 511, 512, 1000, 1024, 5003, 8192,
                                          16384, 40000, 50257, 65536, 100001, 131072, 300001}) {
          const Chosen one = choose(program(1, length, dtype), machine);
          for (const std::int64_t rows : {2, 3, 7, 16, 33, 100, 200, 500, 1000, 2000, 70000}) {
            SCOPED_TRACE(fmt::format("{} rows of {} {}", rows, length, name_of(dtype)));
            const Chosen many = choose(program(rows, length, dtype), machine);
            ASSERT_EQ(many.splits, one.splits);
            ASSERT_EQ(many.configs.size(), one.configs.size());
            for (std::size_t i = 0; i < one.configs.size(); ++i) {
              const Config& a = one.configs[i];
              const Config& b = many.configs[i];
              ASSERT_EQ(a.index(), b.index()) << to_string(a) << "\n" << to_string(b);
              if (!adds_across_threads(a)) continue;
              EXPECT_TRUE(adds_in_same_order(a, b)) << to_string(a) << "\n" << to_string(b);
              EXPECT_LT(tiling_of(b).aligned_to, 0) << "where a row begins would matter";
              EXPECT_FALSE(tiling_of(b).dense_rows);
            }
          }
        }
}

TEST(BatchInvariantConfigs, LongRowsAreSplitHoweverManyThereAre) {
  EXPECT_EQ(choose(row_sum(1, 300001, DType::f32), kHopper).splits,
            choose(row_sum(5000, 300001, DType::f32), kHopper).splits);
  EXPECT_GT(choose(row_sum(5000, 300001, DType::f32), kHopper).configs.size(), 1u);
  EXPECT_EQ(choose(row_sum(1, 100000, DType::f32), kHopper).configs.size(), 1u);
}

TEST(BatchInvariantConfigs, LeaveProductsToNoLibrary) {
  Machine machine = kHopper;
  machine.matmul_library = MatmulLibrary::cublaslt;
  const Chosen chosen = choose(product(4096, 8192, DType::f32), machine);
  ASSERT_EQ(chosen.configs.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<MatmulConfig>(chosen.configs[0]));
}

}  // namespace
}  // namespace sinter
