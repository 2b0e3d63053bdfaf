// Each pass: the structure before and after. All passes together: the results stay the same.
#include "src/graph/simplify.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "src/graph/matmul_views.h"
#include "tests/support/graph_maker.h"
#include "tests/support/graph_reference.h"
#include "tests/support/random_graph.h"
#include "tests/support/same_graph.h"
#include "tests/support/trace_graph.h"

namespace sinter {
namespace {

using testing_support::after;
using testing_support::along_rows;
using testing_support::evaluate;
using testing_support::expanded;
using testing_support::expect_close;
using testing_support::GraphMaker;
using testing_support::random_graph;
using testing_support::random_inputs;
using testing_support::seen;
using testing_support::sliced;
using testing_support::trace_graph;
using testing_support::transposed;

int count_ops(const Graph& graph, Op op) {
  return static_cast<int>(std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                        [op](const Node& node) { return node.op == op; }));
}

void expect_same_meaning(const Graph& before, const Graph& after) {
  verify(before);
  verify(after);
  ASSERT_EQ(before.inputs.size(), after.inputs.size());
  const auto inputs = random_inputs(before, 11);
  expect_close(evaluate(after, inputs), evaluate(before, inputs), 1e-6,
               to_string(before) + "became\n" + to_string(after));
}

// --- fold_constants ---

TEST(FoldConstantsTest, OpsOnNumbersBecomeNumbers) {
  GraphMaker maker;
  const Operand x = maker.input({4});
  const Operand two = maker.number(2, {4});
  const Operand six = maker.op(Op::mul, {two, maker.number(3, {4})});
  maker.output(maker.op(Op::add, {x, maker.op(Op::exp, {six})}));
  const Graph folded = fold_constants(maker.graph);
  EXPECT_EQ(count_ops(folded, Op::mul), 0);
  EXPECT_EQ(count_ops(folded, Op::exp), 1) << "kernels may compute other last bits";
  EXPECT_EQ(count_ops(folded, Op::add), 1);
  expect_same_meaning(maker.graph, folded);
  const Graph more = fold_functions(folded);
  EXPECT_EQ(count_ops(more, Op::exp), 0);
  EXPECT_EQ(count_ops(more, Op::add), 1);
  expect_same_meaning(maker.graph, more);
}

TEST(FoldConstantsTest, FoldsInTheOperandsType) {
  GraphMaker maker;
  const Operand x = maker.input({}, DType::i32);
  const Operand big = maker.number(2147483647, {}, DType::i32);
  maker.output(maker.op(Op::add, {x, maker.op(Op::add, {big, maker.number(1, {}, DType::i32)})}));
  const Graph folded = remove_dead(fold_constants(maker.graph));
  ASSERT_EQ(count_ops(folded, Op::constant), 1);
  for (const Node& node : folded.nodes)
    if (node.op == Op::constant) {
      EXPECT_EQ(node.value.integer, -2147483648) << "i32 wraps";
    }
}

TEST(FoldConstantsTest, ComparisonsAndSelectsFold) {
  EXPECT_EQ(after(fold_constants, "%less = lt 1.0, 2.0\n%y = where %less, 5.0, 7.0\nreturn %y\n"),
            "%0: f32() = constant 5.0\nreturn %0\n");
}

TEST(FoldConstantsTest, NeutralOperationsPassTheirOperandOn) {
  EXPECT_EQ(after(fold_constants, R"(
              %x: f32(4) = input
              %a = mul %x, 1.0
              %b = mul 1.0, %a
              %c = div %b, 1.0
              %d: f32 = cast %c
              %y = neg %d
              return %y)"),
            "%0: f32(4) = input\n%1: f32(4) = neg %0\nreturn %1\n");
}

TEST(FoldConstantsTest, OperationsThatOnlyLookNeutralStay) {
  GraphMaker maker;
  const Operand x = maker.input({4});
  const Operand zero = maker.number(0, {4});
  maker.output(maker.op(Op::add, {x, zero}));                  // -0 + 0 is +0
  maker.output(maker.op(Op::mul, {x, zero}));                  // NaN * 0 is NaN
  maker.output(maker.op(Op::div, {maker.number(1, {4}), x}));  // 1 / x
  maker.output(maker.cast(maker.cast(x, DType::f16), DType::f32));
  const Graph folded = fold_constants(maker.graph);
  EXPECT_EQ(count_ops(folded, Op::add), 1);
  EXPECT_EQ(count_ops(folded, Op::mul), 1);
  EXPECT_EQ(count_ops(folded, Op::div), 1);
  EXPECT_EQ(count_ops(folded, Op::cast), 2) << "explicit casts round";
}

TEST(FoldConstantsTest, ANeutralOperationOnAViewPassesTheViewOn) {
  GraphMaker maker;
  const Operand x = maker.input({3, 4});
  const Operand same = maker.op(Op::mul, {transposed(x), maker.number(1, {4, 3})});
  maker.output(maker.op(Op::neg, {same}));
  const Graph folded = remove_dead(fold_constants(maker.graph));
  EXPECT_EQ(count_ops(folded, Op::mul), 0);
  expect_same_meaning(maker.graph, folded);
}

TEST(FoldConstantsTest, ANeutralOperationReadThroughAViewThatDoesNotComposeStays) {
  GraphMaker maker;
  const Operand x = maker.input({3, 4});
  const Operand same = maker.op(Op::mul, {transposed(x), maker.number(1, {4, 3})});
  maker.output(maker.op(Op::neg, {seen(same, dense_view({12}))}));  // flattened
  const Graph folded = fold_constants(maker.graph);
  expect_same_meaning(maker.graph, folded);
}

TEST(FoldConstantsTest, AFoldedNumberSeenThroughAnyViewStaysOne) {
  GraphMaker maker;
  maker.input({});
  const Operand product = maker.op(Op::mul, {maker.number(2, {3, 4}), maker.number(3, {3, 4})});
  maker.output(maker.op(Op::neg, {sliced(transposed(product), 0, 1, 3)}));
  maker.output(seen(product, dense_view({12})));
  const Graph folded = fold_constants(maker.graph);
  EXPECT_EQ(count_ops(folded, Op::mul), 0);
  expect_same_meaning(maker.graph, folded);
}

// --- copy_reversed_outputs ---

TEST(CopyReversedOutputsTest, OnlyWhatIsReadBackwardsIsCopied) {
  GraphMaker maker;
  const Operand x = maker.input({4});
  maker.output(seen(x, reversed(x.view, 1)));
  maker.output(sliced(x, 0, 1, 2));
  const Graph copied = copy_reversed_outputs(maker.graph);
  EXPECT_EQ(to_string(copied),
            "%0: f32(4) = input\n%1: f32(4) = copy %0[(4) strides (-1) + 3]\n"
            "return %1, %0[(2) strides (1) + 1]\n");
  expect_same_meaning(maker.graph, copied);
}

// --- drop_unit_axes ---

TEST(DropUnitAxesTest, PointwiseAndReducedShapesLoseThem) {
  GraphMaker maker;
  const Operand x = maker.input({5, 1, 6, 1});
  const Operand y = maker.op(Op::exp, {x});
  const Operand total = maker.reduce(ReduceKind::sum, y, {2});  // (5, 1, 1)
  maker.output(total);
  const Graph dropped = drop_unit_axes(maker.graph);
  EXPECT_EQ(dropped[y.node].shape, Shape({5, 6}));
  EXPECT_EQ(dropped[total.node].shape, Shape({5}));
  EXPECT_EQ(dropped[total.node].axes, 0b10u);
  EXPECT_EQ(dropped.outputs[0].view.shape, Shape({5, 1, 1})) << "the caller's shape stays";
  expect_same_meaning(maker.graph, dropped);
}

TEST(DropUnitAxesTest, AReductionOfOneElementIsACopy) {
  GraphMaker maker;
  const Operand x = maker.input({5, 1, 3});
  const Operand most = maker.reduce(ReduceKind::max, x, {1});
  const Operand total = maker.reduce(ReduceKind::sum, x, {1, 2});
  const Operand position = maker.reduce(ReduceKind::argmax, x, {1});
  for (const Operand& each : {most, total, position}) maker.output(each);
  const Graph dropped = drop_unit_axes(maker.graph);
  EXPECT_EQ(dropped[most.node].op, Op::copy);
  EXPECT_FALSE(drop_unit_axes(note_kept_axes(maker.graph))[most.node].keeps_innermost);
  EXPECT_EQ(dropped[total.node].op, Op::reduce);
  EXPECT_EQ(dropped[total.node].axes, 0b10u);
  EXPECT_EQ(dropped[position.node].operands[0].view.shape, Shape({5, 1, 3}));
  expect_same_meaning(maker.graph, dropped);
}

TEST(DropUnitAxesTest, ConcatKeepsItsShape) {
  GraphMaker maker;
  const Operand x = maker.input({5, 1});
  maker.output(maker.concat({maker.op(Op::neg, {x}), maker.op(Op::exp, {x})}, 1));
  const Graph dropped = drop_unit_axes(maker.graph);
  expect_same_meaning(maker.graph, dropped);
}

// --- sink_views ---

TEST(SinkViewsTest, ATransposedResultIsComputedTransposed) {
  EXPECT_EQ(after(sink_views, "%x: f32(3, 4) = input\n%y = exp %x\nreturn %y.transpose(0, 1)\n"),
            after(remove_dead, "%x: f32(3, 4) = input\n%y = exp %x.transpose(0, 1)\nreturn %y\n"));
}

TEST(SinkViewsTest, ViewsSinkThroughAChain) {
  GraphMaker maker;
  const Operand x = maker.input({3, 4});
  Operand y = maker.op(Op::exp, {x});
  y = maker.op(Op::neg, {y});
  const Operand z = maker.op(Op::mul, {transposed(y), maker.number(2, {4, 3})});
  maker.output(z);
  const Graph sunk = sink_views(maker.graph);
  for (const Node& node : sunk.nodes)
    if (is_pointwise(node.op)) {
      EXPECT_EQ(node.shape, Shape({4, 3})) << name_of(node.op);
    }
  expect_same_meaning(maker.graph, sunk);
}

TEST(SinkViewsTest, ASliceComputesOnlyWhatIsRead) {
  EXPECT_EQ(
      after(sink_views,
            "%x: f32(8, 4) = input\n%y = exp %x\n%z = neg %y.slice(0, 2, 8, 2)\nreturn %z\n"),
      after(remove_dead,
            "%x: f32(8, 4) = input\n%y = exp %x.slice(0, 2, 8, 2)\n%z = neg %y\nreturn %z\n"));
}

TEST(SinkViewsTest, ReadersThatDisagreeKeepTheNodeAsItIs) {
  GraphMaker maker;
  const Operand x = maker.input({4, 4});
  const Operand y = maker.op(Op::exp, {x});
  maker.output(maker.op(Op::add, {y, transposed(y)}));
  const Graph sunk = sink_views(maker.graph);
  EXPECT_EQ(to_string(sunk), to_string(maker.graph));
}

TEST(SinkViewsTest, HeavyWorkIsNotRepeatedForABroadcast) {
  GraphMaker maker;
  const Operand bias = maker.input({6});
  const Operand x = maker.input({4, 6});
  const Operand heavy = maker.op(Op::exp, {bias});
  maker.output(maker.op(Op::add, {x, expanded(heavy, {4, 6})}));
  const Graph sunk = sink_views(maker.graph);
  EXPECT_EQ(sunk[heavy.node].shape, Shape({6}));
}

TEST(SinkViewsTest, CheapWorkOnInputsIsRepeatedForABroadcast) {
  GraphMaker maker;
  const Operand bias = maker.input({6});
  const Operand x = maker.input({4, 6});
  const Operand cheap = maker.op(Op::neg, {bias});
  maker.output(maker.op(Op::add, {x, expanded(cheap, {4, 6})}));
  EXPECT_EQ(sink_views(maker.graph)[cheap.node].shape, Shape({6})) << "also where nothing is fused";
  const Graph sunk = repeat_cheap_work(maker.graph);
  EXPECT_EQ(sunk[cheap.node].shape, Shape({4, 6})) << "so that it can share the kernel";
  expect_same_meaning(maker.graph, sunk);
}

TEST(SinkViewsTest, WorkIsNotRepeatedForAMatrixProduct) {
  GraphMaker maker;
  const Operand a = maker.input({4, 5});
  const Operand b = maker.input({5, 6});
  const Operand cheap = maker.op(Op::neg, {a});
  const MatmulViews views = matmul_views(cheap.view, b.view);
  maker.output(
      maker.build.contract({cheap.node, views.a}, {b.node, views.b}, views.axes, DType::f32));
  EXPECT_EQ(repeat_cheap_work(maker.graph)[cheap.node].shape, Shape({4, 5}));
}

TEST(SinkViewsTest, CheapWorkOnComputedRowsIsNotRepeated) {
  GraphMaker maker;
  const Operand x = maker.input({4, 6});
  const Operand scaled = maker.op(Op::neg, {maker.reduce(ReduceKind::sum, x, {1})});
  maker.output(maker.op(Op::add, {x, along_rows(scaled, 6)}));
  const Graph sunk = repeat_cheap_work(maker.graph);
  EXPECT_EQ(sunk[scaled.node].shape, Shape({4})) << "row-level values are computed once a row";
}

// --- merge_equal ---

TEST(MergeEqualTest, EqualExpressionsBecomeOne) {
  GraphMaker maker;
  const Operand x = maker.input({4});
  const Operand a = maker.op(Op::mul, {maker.op(Op::exp, {x}), maker.number(2, {4})});
  const Operand b = maker.op(Op::mul, {maker.op(Op::exp, {x}), maker.number(2, {4})});
  maker.output(maker.op(Op::add, {a, b}));
  const Graph merged = merge_equal(maker.graph);
  EXPECT_EQ(count_ops(merged, Op::exp), 1);
  EXPECT_EQ(count_ops(merged, Op::mul), 1);
  EXPECT_EQ(count_ops(merged, Op::constant), 1);
  expect_same_meaning(maker.graph, merged);
}

TEST(MergeEqualTest, NodesThatDifferInOneFieldStaySeparate) {
  GraphMaker maker;
  const Operand x = maker.input({4, 4});
  const Operand i = maker.input({4, 4}, DType::i32);
  maker.output(maker.op(Op::exp, {x}));
  maker.output(maker.op(Op::exp, {transposed(x)}));     // view
  maker.output(maker.reduce(ReduceKind::sum, x, {0}));  // axes
  maker.output(maker.reduce(ReduceKind::sum, x, {1}));
  maker.output(maker.reduce(ReduceKind::max, x, {1}));  // kind
  maker.output(maker.cast(i, DType::f32));              // dtype
  maker.output(maker.cast(i, DType::f64));
  const Scalar zero = Scalar::of(std::int64_t{0});
  maker.output(maker.range(4, zero, Scalar::of(std::int64_t{1}), DType::i64));  // step
  maker.output(maker.range(4, zero, Scalar::of(std::int64_t{2}), DType::i64));
  EXPECT_EQ(merge_equal(maker.graph).nodes.size(), maker.graph.nodes.size());
}

TEST(MergeEqualTest, InputsAreNeverMerged) {
  GraphMaker maker;
  const Operand x = maker.input({4});
  const Operand y = maker.input({4});
  maker.output(maker.op(Op::add, {x, y}));
  const Graph merged = merge_equal(maker.graph);
  EXPECT_EQ(merged.inputs.size(), 2u);
  expect_same_meaning(maker.graph, merged);
}

TEST(MergeEqualTest, MinusZeroIsNotZero) {
  GraphMaker maker;
  const Operand x = maker.input({});
  maker.output(maker.op(Op::div, {x, maker.number(0.0)}));
  maker.output(maker.op(Op::div, {x, maker.number(-0.0)}));
  EXPECT_EQ(count_ops(merge_equal(maker.graph), Op::div), 2);
}

// --- remove_dead ---

TEST(RemoveDeadTest, UnusedNodesGoInputsStay) {
  EXPECT_EQ(after(remove_dead, R"(
              %x: f32(4) = input
              %unused: f32(9) = input
              %minus = neg %x
              %dead = exp %minus
              %y = sqrt %x
              return %y)"),
            "%0: f32(4) = input\n%1: f32(9) = input\n%2: f32(4) = sqrt %0\nreturn %2\n");
}

// --- all passes ---

TEST(SimplifyTest, PassesRunInTheListedOrder) {
  std::string names;
  for (const GraphPass& pass : simplify_passes()) names += std::string(pass.name) + " ";
  EXPECT_EQ(names,
            "copy_reversed_outputs fold_constants fold_functions use_identities "
            "pick_before_work narrow_integers drop_unit_axes sink_views repeat_cheap_work "
            "compute_where_read "
            "copy_reversed_outputs "
            "merge_equal "
            "reuse_maxima remove_dead ");
}

TEST(SimplifyTest, PassesThatChangeBitsAreLeftOutWhereBitsAreKept) {
  const Graph graph = trace_graph({Shape{4}}, [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{1 + tanh(in[0]), in[0] + exp(full({4}, 2))};
  });
  const Graph kept = simplify(graph, {.bits = Bits::kept});
  EXPECT_EQ(count_ops(kept, Op::tanh), 1);
  EXPECT_EQ(count_ops(kept, Op::exp), 1);
  const Graph freed = simplify(graph);
  EXPECT_EQ(count_ops(freed, Op::tanh), 0);
  EXPECT_EQ(count_ops(freed, Op::exp), 0);
}

TEST(SimplifyTest, PassesWithNothingToDoHandTheGraphOn) {
  const Graph graph = simplify(trace_graph({Shape{4, 6}}, [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{softmax(in[0], 1) * 3.0 + tanh(in[0]), argmax(in[0], 1)};
  }));
  for (const GraphPass& pass : simplify_passes()) {
    Graph given = graph;
    const Node* const nodes = given.nodes.data();
    const Graph passed = pass.run(std::move(given));
    EXPECT_EQ(to_string(passed), to_string(graph)) << pass.name;
    EXPECT_EQ(passed.nodes.data(), nodes) << pass.name << " copied it";
  }
}

TEST(SimplifyTest, RowsOfKeepdimReductionsStayRows) {
  const Graph graph = simplify(trace_graph({Shape{5, 7}}, [](const std::vector<Tensor>& in) {
    const Tensor total = sum(exp(in[0]), 1, true);
    return std::vector<Tensor>{in[0] / log(total), log(total)};
  }));
  for (const Node& node : graph.nodes)
    if (node.op == Op::log) {
      EXPECT_EQ(node.shape, Shape({5})) << to_string(graph);
    }
}

TEST(SimplifyTest, PreservesTheMeaningOfRandomGraphs) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = random_graph(seed);
    Graph stage = graph;
    for (const GraphPass& pass : simplify_passes()) {
      const Graph next = pass.run(stage);
      expect_same_meaning(stage, next);
      if (testing::Test::HasFatalFailure()) FAIL() << pass.name;
      stage = next;
    }
    EXPECT_EQ(to_string(stage), to_string(simplify(graph)));
  }
}

TEST(SimplifyTest, ProgramsMayBeVeryDeep) {
  GraphMaker maker;
  Operand whole =
      maker.range(64, Scalar::of(std::int64_t{0}), Scalar::of(std::int64_t{1}), DType::i64);
  Operand real = maker.input({64, 2});
  const Operand one = maker.build.constant(Scalar::of(std::int64_t{1}), DType::i64, {64});
  for (int i = 0; i < 50'000; ++i) {
    whole = maker.op(Op::minimum, {maker.op(Op::add, {whole, one}), one});
    real = maker.op(Op::neg, {transposed(real)});
  }
  maker.output(maker.op(Op::lt, {whole, one}));  // narrows the whole chain to i32
  maker.output(real);
  const Graph simplified = simplify(maker.graph);
  verify(simplified);
  EXPECT_EQ(simplified[simplified[simplified.outputs[0].node].operands[0].node].dtype, DType::i32);
}

TEST(SimplifyTest, ZeroSizesSurvive) {
  GraphMaker maker;
  const Operand x = maker.input({0, 6});
  const Operand y = maker.op(Op::exp, {transposed(x)});
  maker.output(maker.op(Op::add, {y, maker.number(1, {6, 0})}));
  maker.output(maker.reduce(ReduceKind::sum, y, {1}));
  expect_same_meaning(maker.graph, simplify(maker.graph));
}

}  // namespace
}  // namespace sinter
