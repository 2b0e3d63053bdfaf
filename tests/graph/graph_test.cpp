// Building graphs, what verify() refuses, and the printed form.
#include "src/graph/graph.h"

#include <gtest/gtest.h>
#include <sinter/error.h>

#include <cmath>
#include <functional>
#include <limits>
#include <ostream>

#include "tests/support/graph_maker.h"

namespace sinter {
namespace {

using testing_support::along_rows;
using testing_support::expanded;
using testing_support::GraphMaker;
using testing_support::seen;
using testing_support::sliced;
using testing_support::transposed;

// x (4, 6) -> softmax-like: every kind of node in one graph.
struct Sample {
  GraphMaker maker;
  Operand x = maker.input({4, 6});
  Operand row_max = maker.reduce(ReduceKind::max, x, {1});
  Operand shifted = maker.op(Op::sub, {x, along_rows(row_max, 6)});
  Operand scaled = maker.op(Op::mul, {shifted, maker.number(0.5, {4, 6})});
  Operand joined = maker.concat({scaled, x}, 0);
  Operand range =
      maker.range(6, Scalar::of(std::int64_t{2}), Scalar::of(std::int64_t{3}), DType::i64);
  Operand cast = maker.cast(range, DType::f16);
  Operand padded = maker.op(Op::exp, {seen(x, *pad(x.view, 0, 1, 1, Scalar::of(0.0)))});

  Sample() {
    maker.output(joined);
    maker.output(transposed(shifted));
    maker.output(cast);
  }
};

TEST(GraphTest, AWellFormedGraphVerifies) {
  const Sample sample;
  EXPECT_NO_THROW(verify(sample.maker.graph));
}

// Each case makes the sample invalid in one way.
struct Break {
  const char* name;
  std::function<void(Sample&, Graph&)> apply;
};

void PrintTo(const Break& broken, std::ostream* out) { *out << broken.name; }

class VerifyGraphTest : public testing::TestWithParam<Break> {};

TEST_P(VerifyGraphTest, RefusesIt) {
  Sample sample;
  Graph graph = sample.maker.graph;
  GetParam().apply(sample, graph);
  EXPECT_THROW(verify(graph), InternalError);
}

// Changes the window through which a node reads its first operand.
void window_of(Graph& graph, const Operand& node, const std::function<void(Window&)>& change) {
  View& view = graph[node.node].operands[0].view;
  Window window = *view.window;
  change(window);
  view.window = std::make_shared<const Window>(window);
}

const Break kBreaks[] = {
    {"operand_points_forward",
     [](Sample& s, Graph& g) { g[s.shifted.node].operands[0].node = s.scaled.node; }},
    {"operand_is_the_node_itself",
     [](Sample& s, Graph& g) { g[s.shifted.node].operands[0].node = s.shifted.node; }},
    {"operand_is_no_node", [](Sample& s, Graph& g) { g[s.shifted.node].operands[0].node = -1; }},
    {"view_leaves_its_node",
     [](Sample& s, Graph& g) { g[s.scaled.node].operands[0].view.offset = 1; }},
    {"view_before_its_node",
     [](Sample& s, Graph& g) { g[s.scaled.node].operands[0].view.offset = -1; }},
    {"view_strides_past_its_node",
     [](Sample& s, Graph& g) { g[s.scaled.node].operands[0].view.strides[0] = 7; }},
    {"view_with_fewer_strides_than_sizes",
     [](Sample& s, Graph& g) { g[s.scaled.node].operands[0].view.strides.erase(0); }},
    {"pointwise_operand_of_another_shape",
     [](Sample& s, Graph& g) {
       g[s.scaled.node].operands[0].view = slice(dense_view({4, 6}), 0, 0, 2, 1);
     }},
    {"pointwise_with_too_few_operands",
     [](Sample& s, Graph& g) { g[s.scaled.node].operands.pop_back(); }},
    {"pointwise_result_dtype", [](Sample& s, Graph& g) { g[s.scaled.node].dtype = DType::f64; }},
    {"pointwise_operands_of_two_dtypes",
     [](Sample& s, Graph& g) { g[s.x.node].dtype = DType::f16; }},
    {"reduce_over_no_axis", [](Sample& s, Graph& g) { g[s.row_max.node].axes = 0; }},
    {"reduce_over_an_axis_that_is_not_there",
     [](Sample& s, Graph& g) { g[s.row_max.node].axes = 4; }},
    {"reduce_result_shape", [](Sample& s, Graph& g) { g[s.row_max.node].shape = {6}; }},
    {"reduce_result_dtype", [](Sample& s, Graph& g) { g[s.row_max.node].dtype = DType::i64; }},
    {"reduce_of_two_operands",
     [](Sample& s, Graph& g) { g[s.row_max.node].operands.push_back(s.x); }},
    {"concat_of_two_dtypes", [](Sample& s, Graph& g) { g[s.joined.node].dtype = DType::f64; }},
    {"concat_sizes_do_not_add_up",
     [](Sample& s, Graph& g) {
       g[s.joined.node].shape = {9, 6};
     }},
    {"concat_along_an_axis_that_is_not_there",
     [](Sample& s, Graph& g) { g[s.joined.node].axes = 2; }},
    {"concat_operands_differ_off_the_axis",
     [](Sample& s, Graph& g) {
       g[s.joined.node].operands[0] = sliced(g[s.joined.node].operands[0], 1, 0, 5);
     }},
    {"concat_operands_differ_in_rank",
     [](Sample& s, Graph& g) {
       g[s.joined.node].operands[0].view = insert_axis(g[s.joined.node].operands[0].view, 2);
     }},
    {"leaf_with_an_operand", [](Sample& s, Graph& g) { g[s.range.node].operands = {s.x}; }},
    {"output_leaves_its_node", [](Sample&, Graph& g) { g.outputs[0].view.offset = 1; }},
    {"output_is_no_node", [](Sample&, Graph& g) { g.outputs[0].node = g.size(); }},
    {"input_list_names_another_node", [](Sample& s, Graph& g) { g.inputs[0] = s.shifted.node; }},
    {"window_of_another_rank",
     [](Sample& s, Graph& g) { window_of(g, s.padded, [](Window& w) { w.first.erase(0); }); }},
    {"window_that_begins_before_its_view",
     [](Sample& s, Graph& g) { window_of(g, s.padded, [](Window& w) { w.first[0] = -1; }); }},
    {"window_that_ends_after_its_view",
     [](Sample& s, Graph& g) { window_of(g, s.padded, [](Window& w) { w.last[1] = 7; }); }},
    {"window_that_ends_before_it_begins",
     [](Sample& s, Graph& g) { window_of(g, s.padded, [](Window& w) { w.last[0] = 0; }); }},
    {"reduce_of_a_padded_view",
     [](Sample& s, Graph& g) {
       g[s.row_max.node].operands[0].view =
           *pad(slice(dense_view({4, 6}), 0, 1, 3, 1), 0, 1, 0, Scalar::of(0.0));
     }},
    {"padded_output",
     [](Sample&, Graph& g) {
       g.outputs[0].view = *pad(g.outputs[0].view, 0, 1, 0, Scalar::of(0.0));
     }},
};

INSTANTIATE_TEST_SUITE_P(GraphTest, VerifyGraphTest, testing::ValuesIn(kBreaks),
                         [](const auto& row) { return std::string(row.param.name); });

// The table computes the other kinds of entries at once, so they cannot be wrong in this way.
TEST(GraphTest, NumbersThatUseOthersWronglyAreRefused) {
  const auto expect_refused = [](const NumberExpr& expr) {
    Graph graph;
    graph.numbers.argument(NumberKind::integer, Scalar::of(std::int64_t{3}));
    EXPECT_NO_THROW(verify(graph));
    graph.numbers.add(expr);
    EXPECT_THROW(verify(graph), InternalError);
  };
  using Kind = NumberExpr::Kind;
  expect_refused({.kind = Kind::argument, .index = 1});
  expect_refused({.kind = Kind::argument, .index = -1});
  expect_refused({.kind = Kind::value, .operands = {0, kNoNumber, kNoNumber}});
  expect_refused({.kind = Kind::value, .operands = {1, kNoNumber, kNoNumber}});
  expect_refused({.kind = Kind::value, .operands = {-2, kNoNumber, kNoNumber}});
  expect_refused({.kind = Kind::quotient, .dtype = DType::i64, .operands = {0, 0, 0}});
  expect_refused({.kind = Kind::cast, .operands = {0, 0, kNoNumber}});
  expect_refused({.kind = Kind::apply, .op = Op::add, .operands = {0, kNoNumber, kNoNumber}});
}

TEST(GraphTest, PrintsNodesViewsAndOutputs) {
  const Sample sample;
  EXPECT_EQ(to_string(sample.maker.graph),
            "%0: f32(4, 6) = input\n"
            "%1: f32(4) = max %0 over axes 1\n"
            "%2: f32(4, 6) = sub %0, %1[(4, 6) strides (1, 0)]\n"
            "%4: f32(4, 6) = mul %2, 0.5\n"
            "%5: f32(8, 6) = concat %4, %0 axis 0\n"
            "%6: i64(6) = iota 2 step 3\n"
            "%7: f16(6) = cast %6\n"
            "%8: f32(6, 6) = exp %0[(6, 6) strides (6, 1) where (1, 0) to (5, 6) else 0.0]\n"
            "return %5, %2[(6, 4) strides (1, 6)], %7\n");
}

TEST(GraphTest, PrintsOffsetsOfViews) {
  GraphMaker maker;
  const Operand x = maker.input({8});
  maker.output(maker.op(Op::neg, {sliced(x, 0, 2, 3, 2)}));
  EXPECT_EQ(to_string(maker.graph),
            "%0: f32(8) = input\n"
            "%1: f32(3) = neg %0[(3) strides (2) + 2]\n"
            "return %1\n");
}

TEST(GraphTest, KeptShapeLeavesOutReducedAxes) {
  EXPECT_EQ(kept_shape({2, 3, 4}, 0b010), Shape({2, 4}));
  EXPECT_EQ(kept_shape({2, 3, 4}, 0b111), Shape());
}

TEST(ScalarTest, RoundsToItsDtype) {
  EXPECT_EQ(Scalar::of(0.1).as(DType::f32).real, static_cast<double>(0.1f));
  EXPECT_EQ(Scalar::of(2049.0).as(DType::f16).real, 2048.0);
  EXPECT_EQ(Scalar::of(257.0).as(DType::bf16).real, 256.0);
  EXPECT_EQ(Scalar::of(0.1).as(DType::f64).real, 0.1);
  EXPECT_EQ(Scalar::of(-2.7).as(DType::i64).integer, -2);
  EXPECT_EQ(Scalar::of(-2.7).as(DType::i64).real, -2.0);
  EXPECT_EQ(Scalar::of(0.3).as(DType::boolean).integer, 1);
  EXPECT_EQ(Scalar::of(std::int64_t{5}).as(DType::f32).real, 5.0);
}

TEST(ScalarTest, WholeNumbersStayExactAndWrapInI32) {
  constexpr std::int64_t kLarge = (std::int64_t{1} << 53) + 1;
  EXPECT_EQ(Scalar::of(kLarge).as(DType::i64).integer, kLarge);
  EXPECT_EQ(Scalar::of((std::int64_t{1} << 32) + 7).as(DType::i32).integer, 7);
}

TEST(ScalarTest, RealsOutsideOfI64AreCut) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(Scalar::of(1e30).as(DType::i64).integer, kMost);
  EXPECT_EQ(Scalar::of(-1e30).as(DType::i64).integer, kLeast);
  EXPECT_EQ(Scalar::of(std::nan("")).as(DType::i64).integer, 0);
  EXPECT_EQ(Scalar::of(static_cast<double>(kLeast)).as(DType::i64).integer, kLeast);
}

TEST(GraphTest, RowBroadcastRepeatsReducedAxes) {
  EXPECT_EQ(row_broadcast({4, 5, 6}, 0b010), (View{{4, 5, 6}, {6, 0, 1}, 0}));
}

}  // namespace
}  // namespace sinter
