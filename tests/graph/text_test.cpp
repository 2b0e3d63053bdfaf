// The text form of graphs: printing is lossless, handwritten programs parse, and every mistake gets
// a clear error.
#include "src/graph/text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "src/graph/simplify.h"
#include "src/suite/cases/case.h"
#include "tests/support/errors.h"
#include "tests/support/graph_maker.h"
#include "tests/support/random_graph.h"
#include "tests/support/same_graph.h"
#include "tests/support/trace_graph.h"

namespace sinter {
namespace {

using testing::error_of;
using testing_support::expect_round_trip;
using testing_support::expect_same_graph;
using testing_support::GraphMaker;

// --- round trips ---

// A slice that takes nothing may begin before its value.
TEST(GraphTextTest, AnEmptyViewMayBeginAnywhere) {
  GraphMaker maker;
  const Operand x = maker.op(Op::exp, {maker.input({2, 1})});
  maker.output({x.node, {{0, 1}, {1, 1}, -2}});
  expect_round_trip(maker.graph);
}

TEST(GraphTextTest, RandomGraphsAreReadBack) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    const Graph graph = testing_support::random_graph(seed);
    expect_round_trip(graph);
    expect_round_trip(simplify(graph));
    if (HasFailure()) return;
  }
}

TEST(GraphTextTest, CasesOfTheSuiteAreReadBack) {
  for (const suite::Case& each : suite::all_cases()) {
    std::vector<testing_support::InputSpec> inputs;
    for (const suite::Input& input : each.inputs)
      inputs.emplace_back(input.layout == suite::Layout::matrix       ? Shape{16, 24}
                          : input.layout == suite::Layout::transposed ? Shape{24, 16}
                                                                      : Shape{24},
                          DType::f16);
    const Graph graph = testing_support::trace_graph(inputs, each.program);
    expect_round_trip(graph);
    expect_round_trip(simplify(graph));
    if (HasFailure()) return;
  }
}

TEST(GraphTextTest, NumbersOfACallAreReadBack) {
  const std::string text =
      "#0 = argument real nan\n"
      "#1 = argument integer 18446744073709551615\n"
      "#2 = argument bool true\n"
      "#3 = 0.5\n"
      "#4 = mul f64 #0, #3\n"
      "#5 = argument integer -7\n"
      "#6 = 2\n"
      "#7 = quotient #5, #6\n"
      "#8 = exact i32 #7\n"
      "#9 = divisor i32 #8\n"
      "#10 = cast f32 #4\n"
      "guard #7 is -3\n"
      "guard #10 is not 1.0\n"
      "%0: f32(4) = input\n"
      "%1: f32() = number #10\n"
      "%2: f32(4) = mul %0, %1[(4) strides (0)]\n"
      "return %2\n";
  EXPECT_EQ(to_string(parse_graph(text)), text);
  EXPECT_EQ(error_of([] { parse_graph("#a = argument real 1.0\nguard #a is 2.0\n"); }),
            "[parse] 2:7: the guard does not hold for the numbers given above");
  EXPECT_EQ(error_of([] { parse_graph("#a = argument real 1\n"); }),
            "[parse] 1:20: expected a real number");
  EXPECT_EQ(error_of([] { parse_graph("%x: f32(4) = input\n%y = add %x, #a\n"); }),
            "[parse] 2:14: #a is not defined");
}

TEST(GraphTextTest, ANumberOfACallTakesTheDtypeBesideIt) {
  const Graph graph = parse_graph(
      "#n = argument integer 3\n%x: i32(4) = input\n%y = floor_div %x, #n\nreturn %y\n");
  EXPECT_EQ(graph.dtype(graph.outputs[0]), DType::i32);
  ById<NumberId, Scalar> values;
  EXPECT_THROW(graph.numbers.evaluate(std::vector{Scalar::of(std::int64_t{0})}, values), UserError);
  EXPECT_THROW(graph.numbers.evaluate(std::vector{Scalar::of(std::int64_t{1} << 40)}, values),
               UserError);
}

TEST(GraphTextTest, ANumberComputedFromACallsPromotesByItsValue) {
  const Graph graph = parse_graph(
      "#a = argument integer 7\n#b = argument integer 2\n#q = quotient #a, #b\n"
      "%x: i32(4) = input\n%y = add %x, #q\nreturn %y\n");
  EXPECT_EQ(graph.dtype(graph.outputs[0]), DType::i32);
}

// As in full(). Whether an integer dtype holds the number is checked at each call.
TEST(GraphTextTest, ANumberOfACallIsConvertedToTheDtypeOfItsValue) {
  const std::string text =
      "#0 = argument integer 3\n"
      "#1 = exact i64 #0\n"
      "%0: i64() = number #1\n"
      "return %0\n";
  EXPECT_EQ(to_string(parse_graph("#n = argument integer 3\n%c: i64() = number #n\nreturn %c\n")),
            text);
  EXPECT_EQ(to_string(parse_graph(text)), text) << "already checked";
  // In the precision of kernels.
  EXPECT_EQ(to_string(parse_graph("#n = argument real 0.5\n%c: f16() = number #n\nreturn %c\n")),
            "#0 = argument real 0.5\n#1 = exact f32 #0\n%0: f16() = number #1\nreturn %0\n");
  const auto error = [](const std::string& lines) {
    return error_of([&] { parse_graph(lines + "return %c\n"); });
  };
  EXPECT_EQ(error("#lr = argument real 0.5\n%c: i64() = number #lr\n"),
            "[parse] 2:20: i64 cannot hold #lr, which is a real number");
  EXPECT_EQ(error("#n = argument integer 5000000000\n%c: i32(4) = number #n\n"),
            "[parse] 2:21: i32 cannot hold 5000000000");
  EXPECT_EQ(error("#n = argument integer 18446744073709551615\n%c: i64() = number #n\n"),
            "[parse] 2:20: i64 cannot hold 18446744073709551615");
}

TEST(GraphTextTest, MistakesOfComputedNumbersHaveTheirPosition) {
  const auto error = [](const std::string& lines) {
    return error_of([&] { parse_graph("#a = argument integer 7\n" + lines); });
  };
  EXPECT_EQ(error("#z = argument integer 0\n#q = quotient #a, #z\n"),
            "[parse] 3:6: an integer cannot be divided by 0");
  EXPECT_EQ(error("#h = argument real 0.5\n  #e = exact i32 #h\n"),
            "[parse] 3:8: 0.5 does not fit i32; cast the tensor to f64");
  EXPECT_EQ(error("#z = 0\n#d = divisor i32 #z\n"),
            "[parse] 3:6: integers cannot be divided by 0; cast the tensor to a float");
  EXPECT_EQ(error("#b = argument integer 18446744073709551615\n#s = add i64 #a, #b\n"),
            "[parse] 3:6: 18446744073709551615 does not fit i64");
  EXPECT_EQ(error("#b = argument integer 5000000000\n%x: i32(4) = input\n%y = add %x, #b\n"),
            "[parse] 4:14: 5000000000 does not fit i32, the type of the tensor; cast the tensor to "
            "i64");
}

TEST(GraphTextTest, PaddedViewsAreReadBack) {
  const std::string text =
      "%0: f32(4, 3) = input\n"
      "%1: f32(6, 3) = copy %0[(6, 3) strides (3, 1) where (1, 0) to (5, 3) else 0.5]\n"
      "%2: f32(4) = copy %1[(4) strides (-3) + 15 where (0) to (3) else -inf]\n"
      "return %2\n";
  EXPECT_EQ(to_string(parse_graph(text)), text);
  // The view's word; a sum reads a copy.
  EXPECT_EQ(to_string(parse_graph("%x: f16(4) = input\n"
                                  "%y = sum %x.pad(0, 1, 2).flip(0) over axis 0\n"
                                  "%z = add %x.pad(0, 1, 1) else 2, 1.0\n"
                                  "return %y, %z\n")),
            "%0: f16(4) = input\n"
            "%1: f16(7) = copy %0[(7) strides (-1) + 3 where (2) to (6) else 0.0]\n"
            "%2: f16() = sum %1 over axes 0\n"
            "%4: f16(6) = add %0[(6) strides (1) where (1) to (5) else 2.0], 1.0\n"
            "return %2, %4\n");
  const auto error = [](const std::string& view) {
    return error_of([&] { parse_graph("%x: f32(4) = input\n%y = copy %x" + view + "\n"); });
  };
  EXPECT_EQ(error("[(4) strides (1) where (3) to (3) else 0.0]"),
            "[parse] 2:30: (3) to (3) is no window of (4)");
  EXPECT_EQ(error("[(4) strides (1) where (0, 0) to (3) else 0.0]"),
            "[parse] 2:30: (0, 0) to (3) is no window of (4)");
  EXPECT_EQ(error(".pad(0, -1, 0)"), "[parse] 2:14: counts cannot be negative");
  EXPECT_EQ(error(".pad(0, 9223372036854775807, 0)"), "[parse] 2:14: the sizes are too large");
}

// The offsets of indices outside the window are computed as well.
TEST(GraphTextTest, PaddedViewsWithOffsetsThatOverflowAreRefused) {
  const auto error = [](const std::string& view) {
    return error_of([&] { parse_graph("%x: f32(4) = input\n%y = add %x" + view + ", 1.0\n"); });
  };
  EXPECT_EQ(error("[(281474976710656) strides (281474976710656) where (281474976710655) to "
                  "(281474976710656) else 0.0]"),
            "[parse] 2:13: the sizes are too large for these strides");
  EXPECT_EQ(error("[(2) strides (140737488355328)].pad(0, 1000000, 0)"),
            "[parse] 2:44: the sizes are too large for these strides");
  EXPECT_EQ(error("[(2) strides (140737488355328)].pad(0, 0, 1000000)"),
            "[parse] 2:44: the sizes are too large for these strides");
  EXPECT_EQ(error("[(1) strides (-281474976710656)].pad(0, 40000, 0)"),
            "[parse] 2:45: the sizes are too large for these strides");
  // Large, but not too large.
  EXPECT_NO_THROW(
      parse_graph("%x: f32(4) = input\n"
                  "%y = add %x.pad(0, 281474976710000, 0).flip(0), 1.0\n"
                  "return %y\n"));
}

TEST(GraphTextTest, APaddedViewShowsOnlyNumbersOfItsDtype) {
  const auto error = [](const std::string& dtype, const std::string& view) {
    return error_of(
        [&] { parse_graph("%x: " + dtype + "(4) = input\n%y = copy %x" + view + "\n"); });
  };
  EXPECT_EQ(error("i32", ".pad(0, 1, 1) else 2.5"), "[parse] 2:32: i32 cannot hold 2.5");
  EXPECT_EQ(error("i64", ".pad(0, 1, 1) else nan"), "[parse] 2:32: i64 cannot hold nan");
  EXPECT_EQ(error("i32", ".pad(0, 1, 1) else 5000000000"),
            "[parse] 2:32: i32 cannot hold 5000000000");
  EXPECT_EQ(error("bool", ".pad(0, 1, 1) else 2"), "[parse] 2:32: bool cannot hold 2");
  const std::string window = "[(6) strides (1) where (1) to (5) else ";
  EXPECT_EQ(error("i32", window + "2.5]"), "[parse] 2:52: i32 cannot hold 2.5");
  EXPECT_EQ(error("i32", window + "5000000000]"), "[parse] 2:52: i32 cannot hold 5000000000");
  EXPECT_NO_THROW(
      parse_graph("%x: bool(4) = input\n%i: i32(4) = input\n"
                  "%y = copy %x.pad(0, 1, 1) else true\n"
                  "%z = copy %i.pad(0, 1, 1) else -7\nreturn %y, %z\n"));
}

TEST(GraphTextTest, NumbersKeepEveryBit) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double numbers[] = {0.0,       -0.0, 1.0,  -3.0, 0.1,   1e-7,    1e300,    5e-324, HUGE_VAL,
                            -HUGE_VAL, nan,  -nan, 0.1f, 65504, 1.0 / 3, 16777217, 1e22};
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64})
    for (const double number : numbers)
      for (const bool rounds : {false, true}) {
        GraphMaker maker;
        const Scalar value = rounds ? Scalar::of(number).as(dtype) : Scalar::of(number);
        const Operand constant = maker.build.constant(value, dtype, {4});
        maker.output(maker.op(Op::exp, {constant}));
        const Operand x = maker.input({4}, dtype);
        maker.output(maker.op(Op::add, {x, maker.build.constant(value, dtype, {4})}));
        maker.output(maker.op(Op::lt, {x, maker.build.constant(value, dtype, {4})}));
        expect_round_trip(maker.graph);
      }
}

TEST(GraphTextTest, IntegersAreToldFromReals) {
  GraphMaker maker;
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  for (const std::int64_t number : {std::int64_t{1}, kLeast, std::int64_t{1} << 60}) {
    const Operand x = maker.input({4}, DType::i64);
    maker.output(maker.op(Op::add, {x, maker.build.constant(Scalar::of(number), DType::i64, {4})}));
  }
  const Operand y = maker.input({4});
  maker.output(
      maker.op(Op::add, {y, maker.build.constant(Scalar::of(std::int64_t{1}), DType::f32, {4})}));
  maker.output(maker.op(Op::where, {maker.number(1, {4}, DType::boolean), y, y}));
  expect_round_trip(maker.graph);
}

TEST(GraphTextTest, ConstantsThatAreSharedOrUnusedHaveALineOfTheirOwn) {
  GraphMaker maker;
  const Operand x = maker.input({4}, DType::f16);
  const Operand half = maker.build.constant(Scalar::of(double{0.1F}), DType::f16, {4});
  maker.number(7);
  maker.output(maker.op(Op::mul, {maker.op(Op::add, {x, half}), half}));
  EXPECT_EQ(to_string(maker.graph),
            "%0: f16(4) = input\n"
            "%1: f16() = constant 0.1\n"
            "%2: f32() = constant 7.0\n"
            "%3: f16(4) = add %0, %1[(4) strides (0)]\n"
            "%4: f16(4) = mul %3, %1[(4) strides (0)]\n"
            "return %4\n");
  expect_round_trip(maker.graph);
}

TEST(GraphTextTest, StridedInputsAreReadBack) {
  GraphMaker maker;
  const Operand x = maker.input_view({{4, 6}, {1, 100}, 0});
  maker.output(maker.op(Op::exp, {x}));
  maker.output({x.node, reversed(x.view, 0b11)});
  expect_round_trip(maker.graph);
}

// --- handwritten programs ---

TEST(ParseTest, ASoftmaxByHand) {
  const Graph graph = parse_graph(R"(
    // Rows sum to 1.
    sizes rows = 4, cols = 8
    %x: f32(rows, cols) = input
    %most = max %x over axis 1
    %shifted = sub %x, %most.unsqueeze(1)
    %e = exp %shifted
    %total = sum %e over axes -1
    %y: f32(rows, cols) = div %e, %total.unsqueeze(1)   // broadcast by rule
    return %y
  )");
  verify(graph);
  EXPECT_EQ(to_string(graph),
            "%0: f32(4, 8) = input\n"
            "%1: f32(4) = max %0 over axes 1\n"
            "%2: f32(4, 8) = sub %0, %1[(4, 8) strides (1, 0)]\n"
            "%3: f32(4, 8) = exp %2\n"
            "%4: f32(4) = sum %3 over axes 1\n"
            "%5: f32(4, 8) = div %3, %4[(4, 8) strides (1, 0)]\n"
            "return %5\n");
}

TEST(ParseTest, GivenSizesReplaceTheDefaults) {
  const char* text =
      "sizes rows = 4, cols = 2 * rows, half = cols / 2\n"
      "%x: f32(rows, half + 1, (cols - 1) * 2) = input\n"
      "return %x\n";
  EXPECT_EQ(parse_graph(text)[0].shape, Shape({4, 5, 14}));
  EXPECT_EQ(parse_graph(text, {{"rows", 10}})[0].shape, Shape({10, 11, 38}));
  EXPECT_EQ(parse_graph(text, {{"cols", 6}})[0].shape, Shape({4, 4, 10}));
  const ParsedProgram program = parse_program(text);
  EXPECT_EQ(program.inputs[0].name, "x");
  EXPECT_EQ(program.inputs[0].sizes, std::vector<std::string>({"rows", "", ""}));
  EXPECT_EQ(program.sizes[1], std::pair(std::string("cols"), std::int64_t{8}));
}

TEST(ParseTest, OperandsAreCastByTheRuleOfTheOperation) {
  const Graph graph = parse_graph(
      "%x: f16(4) = input\n%i: i32(4) = input\n"
      "%a = add %x, %i\n%b = mul %i, 0.5\n%c = lt %x, 0.1\n%d = add %i, 2\nreturn %a, %b, %c, "
      "%d\n");
  EXPECT_EQ(to_string(graph),
            "%0: f16(4) = input\n%1: i32(4) = input\n"
            "%2: f16(4) = cast %1\n%3: f16(4) = add %0, %2\n"
            "%4: f32() = constant 0.5\n%5: f32(4) = cast %1\n"
            "%6: f32(4) = mul %5, %4[(4) strides (0)]\n"
            "%8: bool(4) = lt %0, 0.099975586\n"
            "%10: i32(4) = add %1, 2\n"
            "return %3, %6, %8, %10\n");
}

TEST(ParseTest, ViewWords) {
  const Graph graph = parse_graph(
      "%x: f32(4, 6) = input\n"
      "%t = %x.transpose(0, 1)\n"
      "%a = neg %t\n"
      "return %a, %x.slice(1, 1, -1, 2), %x.slice(0, 3, -5, -1), %x.flip(0, 1), %x.reshape(3, -1),"
      " %x.permute(1, 0).unsqueeze(0), %x.slice(0, 0, 1).expand(5, -1, -1), %x.slice(0, 0, "
      "1).squeeze(0)\n");
  const std::string text = to_string(graph);
  EXPECT_EQ(
      text.substr(text.find("return")),
      "return %1, %0[(4, 2) strides (6, 2) + 1], %0[(4, 6) strides (-6, 1) + 18], "
      "%0[(4, 6) strides (-6, -1) + 23], %0[(3, 8) strides (8, 1)], "
      "%0[(1, 6, 4) strides (0, 1, 6)], %0[(5, 1, 6) strides (0, 0, 1)], %0[(6) strides (1)]\n");
  EXPECT_EQ(graph[1].operands[0].view, permute(dense_view({4, 6}), {1, 0}));
}

TEST(ParseTest, AReshapeCopiesWhereItMust) {
  EXPECT_EQ(to_string(parse_graph("%x: f32(2, 3) = input\nreturn %x.transpose(0, 1).reshape(6)\n")),
            "%0: f32(2, 3) = input\n%1: f32(3, 2) = copy %0[(3, 2) strides (1, 3)]\n"
            "return %1[(6) strides (1)]\n");
}

TEST(ParseTest, LeavesAndConcat) {
  const Graph graph = parse_graph(
      "%r: i64(5) = iota 2 step -3\n%s: f64(2) = iota 0.5 step 0.25\n%c: f16(3, 2) = constant 1\n"
      "%f: bool(2) = copy true\n%j = concat %r, %s.reshape(2) axis 0\nreturn %c, %f, %j\n");
  verify(graph);
  EXPECT_EQ(graph[graph.outputs[2].node].shape, Shape({7}));
  EXPECT_EQ(graph[graph.outputs[2].node].dtype, DType::f64);
  EXPECT_EQ(graph.outputs[0].view.shape, Shape({3, 2}));
}

// --- mistakes ---

struct Mistake {
  const char* text;  // after "%x: f32(4, 8) = input", the first line
  const char* error;
};

class ParseErrorTest : public ::testing::TestWithParam<Mistake> {};

TEST_P(ParseErrorTest, NamesTheMistakeAndItsPosition) {
  const std::string text =
      std::string("%x: f32(4, 8) = input // the first line\n") + GetParam().text;
  EXPECT_EQ(error_of([&] { parse_graph(text, {}, "my.sinter"); }),
            std::string("[parse] my.sinter:") + GetParam().error);
}

const Mistake kMistakes[] = {
    {"%y = epx %x\n", "2:6: there is no operation 'epx'; did you mean exp?"},
    {"%y = exp %X\n", "2:10: %X is not defined; did you mean %x?"},
    {"%x = exp %x\nreturn %x\n", "2:1: %x is defined twice"},
    {"%y = add %x\n", "2:6: add takes 2 operands, got 1"},
    {"%y = exp\n", "2:6: exp takes 1 operand, got 0"},
    {"%y = exp %x, %x, %x, %x\n", "2:6: exp takes 1 operand, got 4"},
    {"%b: f32(9, 3) = input\n%y = add %x, %b\n", "3:6: (4, 8) and (9, 3) do not broadcast"},
    {"%y: f32(4, 9) = exp %x\n", "2:21: (4, 8) does not broadcast to (4, 9)"},
    {"%y: f16(4, 8) = exp %x\n", "2:5: the type is f32(4, 8), not f16(4, 8)"},
    {"%y: f33(4, 8) = exp %x\n",
     "2:5: expected a type (f32, f16, bf16, f64, i32, i64, bool), got 'f33'"},
    {"%y = lt %x, 0.0\n%z = neg %y\n",
     "3:6: neg takes numbers; cast the bools, or use logical_xor or logical_not"},
    {"%y = lt %x, 0.0\n%z = argmax %y over axis 0\n", "3:6: argmax takes numbers; cast the bools"},
    {"%y = argmax %x over axes 0 1\n", "2:6: argmax takes one axis"},
    {"%y = sum %x over axis 2\n", "2:23: there is no axis 2: the value has 2"},
    {"%y = sum %x over axes 0 0\n", "2:25: axis 0 is named twice"},
    {"%y = sum %x over axes\n", "2:22: expected a number, got the end of the line"},
    {"%y = max %x.slice(0, 0, 0) over axis 0\n", "2:6: max of no elements: the value is (0, 8)"},
    {"%y = cast %x\n", "2:6: a cast has a type: %y: f16 = cast %x"},
    {"%y = concat %x, %x.transpose(0, 1) axis 0\n",
     "2:6: (4, 8) and (8, 4) differ in more than axis 0"},
    {"%y: f32 = input\n", "2:11: an input has a type and a shape: %x: f32(4, 8) = input"},
    {"%y: f16(4) = iota 0 step 1\n", "2:14: iota has one axis and the type f32, f64, i32 or i64"},
    {"%y: i32(4) = iota 2147483645 step 1\n", "2:14: the last element is out of range"},
    {"%i: i32(4) = input\n%y = add %i, 2147483648\n", "3:14: i32 cannot hold 2147483648"},
    {"%y: i64() = constant 0.5\n", "2:22: i64 cannot hold 0.5"},
    {"%y = add %x, 1e999\n", "2:14: 1e999 is out of range"},
    {"%y = add %x, 99999999999999999999\n", "2:14: 99999999999999999999 is out of range"},
    {"%y = add %x, 12ab\n", "2:14: '12ab' is no number"},
    {"%y = exp %x[(4, 8) strides (8)]\n", "2:13: the view has 2 sizes and 1 strides"},
    {"%e = exp %x\n%y = exp %e[(4, 8) strides (8, 1) + 1]\n",
     "3:13: the view leaves its value, which is (4, 8)"},
    {"%y = exp %x[(2) strides (9223372036854775807) + 9]\n",
     "2:13: the view leaves its value, which is (4, 8)"},
    {"%y = exp %x.tranpose(0, 1)\n", "2:13: there is no view 'tranpose'; did you mean transpose?"},
    {"%y = exp %x.transpose(0)\n", "2:13: transpose takes 2 arguments, got 1"},
    {"%y = exp %x.permute(0, 0)\n", "2:13: (0, 0) does not name each axis of (4, 8) once"},
    {"%y = exp %x.slice(0, 0, 4, 0)\n", "2:13: the step cannot be 0"},
    {"%y = exp %x.reshape(5, 7)\n", "2:13: (4, 8) has 32 elements, which do not fit (5, 7)"},
    {"%y = exp %x.expand(5, 8)\n", "2:13: (4, 8) does not broadcast to (5, 8)"},
    {"%y: f32(1, 1, 1, 1, 1, 1, 1, 1, 1) = input\n", "2:33: there are at most 8 axes"},
    {"%y: f32(-1) = input\n", "2:8: a size is negative: (-1)"},
    {"%y: f32(9999999999, 9999999999) = input\n",
     "2:8: (9999999999, 9999999999) has more than 2^48 elements"},
    {"%a: f32(9999999999, 1) = input\n%b: f32(9999999999) = input\n%y = add %a, %b\n",
     "4:6: (9999999999, 9999999999) has more than 2^48 elements"},
    {"%y: f32(rows) = input\n", "2:9: there is no size 'rows'; declare it: sizes rows = 1024"},
    {"sizes rows = 4\n%y: f32(row) = input\n", "3:9: there is no size 'row'; did you mean rows?"},
    {"sizes rows = 4, rows = 5\n", "2:17: the size rows is declared twice"},
    {"sizes rows = 9223372036854775807 + 1\n", "2:34: the sum is too large"},
    {"sizes rows = 5 / 2\n", "2:16: 5 is not a multiple of 2"},
    {"sizes rows = 5 / 0\n", "2:16: sizes cannot be divided by 0"},
    {"%y = exp %x extra\n", "2:13: expected the end of the line, got 'extra'"},
    {"%y = exp %x\n", "3:1: the program returns nothing; it ends with return %y"},
    {"return\n", "2:7: expected a value such as %x, got the end of the line"},
    {"return %x\n%y = exp %x\n", "3:1: nothing may follow return"},
    {"hello\n", "2:1: expected %name, #name, sizes or return, got 'hello'"},
    {"%y ! exp\n", "2:4: unexpected character '!'"},
    {"%y = exp \x80\n", "2:10: unexpected character 0x80"},
    {"% = exp\n", "2:1: a name or number must follow %"},
};

INSTANTIATE_TEST_SUITE_P(ParseTest, ParseErrorTest, ::testing::ValuesIn(kMistakes));

TEST(ParseTest, DeepLongAndHugeTextIsRefused) {
  const std::string deep = "sizes n = " + std::string(100'000, '(');
  EXPECT_EQ(error_of([&] { parse_graph(deep); }),
            "[parse] 1:75: the expression is nested too deeply");
  const std::string minus = "sizes n = " + std::string(100'000, '-');
  EXPECT_EQ(error_of([&] { parse_graph(minus); }),
            "[parse] 1:75: the expression is nested too deeply");
  EXPECT_EQ(error_of([&] { parse_graph("%" + std::string(1'000'000, 'x')); }),
            "[parse] 1:1: names and integers have at most 64 characters");
  EXPECT_EQ(error_of([&] { parse_graph(std::string(20'000'000, ' ')); }),
            "[parse] 1:1: the text has 20000000 bytes; at most 16777216 are read");
}

// A search through the sizes for each name would take minutes.
TEST(ParseTest, ManySizesAreReadInLinearTime) {
  constexpr int kSizes = 100'000;
  std::string text = "sizes s0 = 1\n";
  SizeValues given;
  for (int i = 1; i < kSizes; ++i) {
    text += fmt::format("sizes s{} = s{} + 0 * s{}\n", i, i - 1, i / 2);
    given.emplace_hint(given.end(), fmt::format("s{}", i), 2);
  }
  text += fmt::format("%x: f32(s{}) = input\nreturn %x\n", kSizes - 1);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(parse_graph(text)[0].shape, Shape({1}));
  EXPECT_EQ(parse_graph(text, given)[0].shape, Shape({2}));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(ParseTest, GivenSizesMustBeDeclared) {
  EXPECT_EQ(error_of([] {
              parse_graph("sizes rows = 4\n%x: f32(rows) = input\nreturn %x", {{"row", 1}});
            }),
            "[parse] there is no size 'row'; did you mean rows?");
  EXPECT_EQ(error_of([] {
              parse_graph("%x: f32() = input\nreturn %x", {{"row", 1}});
            }),
            "[parse] the program declares no sizes, so row cannot be set");
  EXPECT_EQ(error_of([] {
              parse_graph("sizes rows = 4\n%x: f32(rows) = input\nreturn %x", {{"rows", -1}});
            }),
            "[parse] 1:7: rows cannot be -1: a size is from 0 to 2^48");
}

}  // namespace
}  // namespace sinter
