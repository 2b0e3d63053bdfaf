// render_cpu() and the host compiler against the interpreter: every tile program, for vectors of
// 16, 32 and 64 bytes. Guard bytes around the buffers are checked.
#include "src/codegen/cpu/renderer.h"

#include <gtest/gtest.h>

#include <map>

#include "src/cpu/cpu_device.h"
#include "src/graph/simplify.h"
#include "src/runtime/compile_kernel.h"
#include "tests/codegen/tile_case_memory.h"
#include "tests/codegen/tile_programs.h"
#include "tests/support/graph_maker.h"
#include "tests/support/graph_reference.h"

namespace sinter {
namespace {

using testing_support::along_rows;
using testing_support::evaluate;
using testing_support::expanded;
using testing_support::expect_close;
using testing_support::GraphMaker;
using testing_support::random_inputs;
using testing_support::run_plan;
using testing_support::transposed;

CpuDevice& device_with(int vector_bytes) {
  static auto& devices = *new std::map<int, std::shared_ptr<CpuDevice>>;
  auto& device = devices[vector_bytes];
  if (!device) {
    CpuDeviceOptions options;
    options.threads = 1;
    options.vector_bytes = vector_bytes;
    device = make_cpu_device(options);
  }
  return *device;
}

void expect_agrees(const TileCase& c, int vector_bytes) {
  SCOPED_TRACE(c.name + " with " + std::to_string(vector_bytes) + "-byte vectors");
  Memory compiled(c);
  Memory oracle(c);
  tile::interpret(c.program, oracle.bindings, c.scalars, 0, c.grid);
  const KernelPtr kernel = compile_kernel(device_with(vector_bytes), c.program);
  ASSERT_FALSE(kernel->stats().interpreted) << "no compiler on this machine";
  kernel->launch(compiled.bindings, c.scalars, c.grid, 0);
  for (std::size_t i = 0; i < c.buffers.size(); ++i) expect_same(c, i, compiled, oracle);
}

class CpuRendererTest : public testing::TestWithParam<TileCase> {};

TEST_P(CpuRendererTest, AgreesWithTheInterpreter) {
  for (int vector_bytes : {16, 32, 64}) expect_agrees(GetParam(), vector_bytes);
}

INSTANTIATE_TEST_SUITE_P(Memory, CpuRendererTest, testing::ValuesIn(memory_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(AlignedRows, CpuRendererTest, testing::ValuesIn(aligned_row_cases()),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Values, CpuRendererTest, testing::ValuesIn(value_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Reductions, CpuRendererTest, testing::ValuesIn(reduction_cases()),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Loops, CpuRendererTest, testing::ValuesIn(loop_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Authors, CpuRendererTest, testing::ValuesIn(author_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(AuthorsOrder, CpuRendererTest, testing::ValuesIn(author_order_cases()),
                         name_of_case);

// --- the text ---

TEST(CpuRendererTextTest, LanesFollowTheWidestElement) {
  const std::vector<TileCase> cases = value_cases();
  auto text_of = [&](const std::string& name, int vector_bytes) {
    for (const TileCase& c : cases)
      if (c.name == name) return render_cpu(c.program, vector_bytes, true).text();
    return std::string();
  };
  EXPECT_NE(text_of("arithmetic_f16", 32).find("#define SN_LANES 8\n"), std::string::npos);
  EXPECT_NE(text_of("arithmetic_f64", 32).find("#define SN_LANES 4\n"), std::string::npos);
  EXPECT_NE(text_of("arithmetic_i32", 64).find("#define SN_LANES 16\n"), std::string::npos);
}

TEST(CpuRendererTextTest, LibmvecIsLeftOutWhereThereIsNone) {
  const TileCase c = reduction_cases()[0];
  EXPECT_EQ(render_cpu(c.program, 32, true).text().find("#define SN_NO_LIBMVEC"),
            std::string::npos);
  EXPECT_NE(render_cpu(c.program, 32, false).text().find("#define SN_NO_LIBMVEC"),
            std::string::npos);
}

TEST(CpuRendererTextTest, TheEntryIsNamedAfterTheProgram) {
  const TileCase c = memory_cases()[0];
  const KernelSource source = render_cpu(c.program, 32, true);
  EXPECT_EQ(source.entry, "sinter_prefix_mask");
  EXPECT_NE(source.text().find("extern \"C\" void sinter_prefix_mask("), std::string::npos);
  EXPECT_EQ(source.scratch_bytes, 0u) << "nothing is kept between stages";
}

// --- lowered programs ---

void expect_compiled_plan_right(const Graph& graph, double bound) {
  const auto inputs = random_inputs(graph, 23);
  const auto expected = evaluate(graph, inputs);
  const Plan plan = make_plan(simplify(graph), {});
  for (int vector_bytes : {16, 32, 64}) {
    const auto actual = run_plan(
        plan, inputs, {}, [&](const Kernel& kernel, const std::vector<tile::BufferBinding>& to) {
          compile_kernel(device_with(vector_bytes), kernel.program())
              ->launch(to, scalar_words(kernel), kernel.grid, 0);
        });
    expect_close(actual, expected, bound, to_string(plan));
  }
}

TEST(CompiledPlanTest, LayerNormOfOddRows) {
  GraphMaker maker;
  const Shape shape{13, 131};
  const Operand x = maker.input(shape);
  const Operand weight = maker.input({131});
  const Operand mean =
      maker.op(Op::div, {maker.reduce(ReduceKind::sum, x, {1}), maker.number(131, {13})});
  const Operand centred = maker.op(Op::sub, {x, along_rows(mean, 131)});
  const Operand squares = maker.reduce(ReduceKind::sum, maker.op(Op::square, {centred}), {1});
  const Operand scale = maker.op(Op::rsqrt, {squares});
  const Operand normed = maker.op(Op::mul, {centred, along_rows(scale, 131)});
  maker.output(maker.op(Op::mul, {normed, expanded(weight, shape)}));
  expect_compiled_plan_right(maker.graph, 1e-5);
}

TEST(CompiledPlanTest, ATransposedOperandBesideAReduction) {
  GraphMaker maker;
  const Operand x = maker.input({45, 70});
  const Operand y = maker.input({70, 45});
  const Operand sum = maker.op(Op::add, {x, transposed(y)});
  maker.output(sum);
  maker.output(maker.reduce(ReduceKind::max, sum, {1}));
  expect_compiled_plan_right(maker.graph, 1e-5);
}

TEST(CompiledPlanTest, ColumnReductionsWithPositions) {
  GraphMaker maker;
  const Operand x = maker.input({33, 150});
  maker.output(maker.reduce(ReduceKind::sum, x, {0}));
  maker.output(maker.reduce(ReduceKind::argmax, x, {0}));
  expect_compiled_plan_right(maker.graph, 1e-5);
}

Graph mask_by_ranges(DType dtype) {
  GraphMaker maker;
  const Operand x = maker.input({40, 70});
  const Operand column =
      maker.range(70, Scalar::of(2.0).as(dtype), Scalar::of(3.0).as(dtype), dtype);
  maker.output(maker.op(
      Op::where, {maker.op(Op::le, {expanded(column, {40, 70}), maker.number(99, {40, 70}, dtype)}),
                  x, maker.number(-1, {40, 70})}));
  return maker.graph;
}

TEST(CompiledPlanTest, RangesOfFloatsKeepAllLanes) {
  const Graph graph = mask_by_ranges(DType::f32);
  expect_compiled_plan_right(graph, 1e-6);
  run_plan(make_plan(simplify(graph), {}), random_inputs(graph, 23), {},
           [&](const Kernel& kernel, const std::vector<tile::BufferBinding>& to) {
             const std::string text = render_cpu(kernel.program(), 64, true).text();
             EXPECT_NE(text.find("#define SN_LANES 16\n"), std::string::npos);
             tile::interpret(kernel.program(), to, scalar_words(kernel), 0, kernel.grid);
           });
}

TEST(CompiledPlanTest, SixteenBitSoftmaxBesideIntegers) {
  GraphMaker maker;
  const Operand x = maker.input({7, 90}, DType::bf16);
  const Operand power = maker.op(Op::exp, {x});
  const Operand total = maker.reduce(ReduceKind::sum, power, {1});
  maker.output(maker.op(Op::div, {power, along_rows(total, 90)}));
  maker.output(maker.cast(maker.op(Op::round, {x}), DType::i64));
  expect_compiled_plan_right(maker.graph, 1e-2);
}

}  // namespace
}  // namespace sinter
