// Concats, rolls, flips and pads inside kernels: which programs take how many kernels, and which
// parts are computed once.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/fuse/plan_checks.h"
#include "tests/support/graph_maker.h"
#include "tests/support/trace_graph.h"

namespace sinter {
namespace {

using testing_support::expect_reference_values;
using testing_support::GraphMaker;
using testing_support::InputSpec;
using testing_support::plan_of;
using testing_support::reasons;
using testing_support::trace_graph;
using Tensors = std::vector<Tensor>;

std::int64_t bytes_of(const Plan& plan) {
  std::int64_t bytes = 0;
  for (const FusionGroup& group : plan.groups) bytes += group.bytes();
  return bytes;
}

std::int64_t elements_of(const Plan& plan, Op op) {
  std::int64_t elements = 0;
  for (const FusionGroup& group : plan.groups)
    for (NodeId id : group.nodes)
      if (plan.graph[id].op == op) elements += plan.graph[id].shape.numel();
  return elements;
}

template <typename F>
Plan checked(const std::vector<InputSpec>& inputs, F&& f) {
  const Graph graph = trace_graph(inputs, f);
  Plan plan = plan_of(graph);
  expect_reference_values(graph, plan);
  return plan;
}

Tensor rolled(const Tensor& x, std::int64_t by, int axis) {
  const std::int64_t size = x.size(axis);
  return concat({slice(x, axis, size - by, size), slice(x, axis, 0, size - by)}, axis);
}

// --- programs of one kernel ---

constexpr std::int64_t kRotated = 2 * 8 * 4 * 16;  // elements

TEST(ConcatTest, RotateHalfTakesOneKernel) {
  const Plan plan =
      checked({Shape{2, 8, 4, 16}, Shape{8, 1, 16}, Shape{8, 1, 16}}, [](const Tensors& in) {
        const std::vector<Tensor> x = chunk(in[0], 2, 3);
        return Tensors{in[0] * in[1] + concat({-x[1], x[0]}, 3) * in[2]};
      });
  EXPECT_EQ(plan.groups.size(), 1u) << to_string(plan);
  EXPECT_EQ(bytes_of(plan), (2 * kRotated + 2 * 8 * 16) * 4) << to_string(plan);
}

TEST(ConcatTest, HalvesOfARotationAreStoredByOneKernel) {
  const auto rotation = [](const Tensor& t, const Tensor& cos, const Tensor& sin) {
    const std::vector<Tensor> x = chunk(t, 2, 3);
    return concat({x[0] * cos - x[1] * sin, x[1] * cos + x[0] * sin}, 3);
  };
  const std::vector<InputSpec> inputs{Shape{2, 8, 4, 16}, Shape{8, 1, 8}, Shape{8, 1, 8}};
  const Plan plan =
      checked(inputs, [&](const Tensors& in) { return Tensors{rotation(in[0], in[1], in[2])}; });
  EXPECT_EQ(plan.groups.size(), 1u) << to_string(plan);
  EXPECT_EQ(elements_of(plan, Op::where), 0) << "no element is computed twice";
  EXPECT_EQ(bytes_of(plan), (2 * kRotated + 2 * 8 * 8) * 4) << to_string(plan);
  const std::vector<InputSpec> half{InputSpec(Shape{2, 8, 4, 16}, DType::bf16), Shape{8, 1, 8},
                                    Shape{8, 1, 8}};
  const Graph converted = trace_graph(half, [&](const Tensors& in) {
    return Tensors{cast(rotation(cast(in[0], DType::f32), in[1], in[2]), DType::bf16)};
  });
  const Plan in_f32 = plan_of(converted);
  EXPECT_EQ(in_f32.groups.size(), 1u) << to_string(in_f32);
  EXPECT_EQ(bytes_of(in_f32), 2 * kRotated * 2 + 2 * 8 * 8 * 4) << to_string(in_f32);
}

TEST(ConcatTest, RollsFlipsAndPadsAreReadInPlace) {
  const Shape shape{7, 31};
  const auto one_kernel = [&](const char* what, auto&& f) {
    SCOPED_TRACE(what);
    const Plan plan = checked({shape, shape}, f);
    EXPECT_EQ(plan.groups.size(), 1u) << to_string(plan);
  };
  one_kernel("roll", [](const Tensors& in) { return Tensors{in[0] * rolled(in[0], 5, 1) + 1.0}; });
  one_kernel("roll of a computed value", [](const Tensors& in) {
    const Tensor y = in[0] * 2.0 + in[1];
    return Tensors{y - rolled(y, 3, 0)};
  });
  one_kernel("roll along two axes",
             [](const Tensors& in) { return Tensors{abs(rolled(rolled(in[0], 2, 0), 17, 1))}; });
  one_kernel("a roll as the result",
             [](const Tensors& in) { return Tensors{rolled(in[0], 1, 1)}; });
  one_kernel("flip", [](const Tensors& in) {
    const Tensor y = in[0] + 1.0;
    return Tensors{y * flip(y, {1})};
  });
  one_kernel("shift", [](const Tensors& in) {
    const Tensor y = in[0] * 2.0;
    return Tensors{slice(pad(y, 1, 1, 0, 3.0), 1, 0, 31) + y};
  });
  one_kernel("circular stencil", [](const Tensors& in) {
    const Tensor wide = concat({slice(in[0], 1, 30, 31), in[0], slice(in[0], 1, 0, 1)}, 1);
    return Tensors{slice(wide, 1, 0, 31) - 2.0 * slice(wide, 1, 1, 32) + slice(wide, 1, 2, 33)};
  });
  one_kernel("zeros before a shift", [](const Tensors& in) {
    return Tensors{in[1] + concat({zeros({7, 4}), slice(in[0], 1, 0, 27)}, 1)};
  });
  one_kernel("sum of a roll",
             [](const Tensors& in) { return Tensors{sum(rolled(in[0], 4, 0) * in[1], {1})}; });
}

TEST(ConcatTest, WhatOnlyAnEmptyPartReadsIsNotComputed) {
  GraphMaker maker;
  const Operand x = maker.input({2, 3});
  const Operand unread = maker.op(Op::neg, {maker.input({5, 3})});
  const Operand nothing{unread.node, slice(unread.view, 0, {.first = 0, .count = 0})};
  maker.output(maker.concat({nothing, x}, 0));
  const Plan plan = make_plan(maker.graph, {});
  verify(plan);
  EXPECT_EQ(plan.groups.size(), 1u) << to_string(plan);
}

TEST(ConcatTest, ASoftmaxReadsTheParts) {
  const Plan plan = checked({Shape{6, 40}, Shape{6, 24}}, [](const Tensors& in) {
    return Tensors{softmax(concat({in[0], in[1]}, 1), 1)};
  });
  EXPECT_EQ(plan.groups.size(), 1u) << to_string(plan);
  EXPECT_EQ(bytes_of(plan), 2 * 6 * 64 * 4);
}

TEST(ConcatTest, NestedConcatsAreReadThrough) {
  const Plan plan = checked({Shape{5, 8}, Shape{5, 3}, Shape{2, 11}}, [](const Tensors& in) {
    return Tensors{concat({concat({in[0], in[1]}, 1), in[2]}, 0) * 2.0};
  });
  EXPECT_EQ(plan.groups.size(), 1u) << to_string(plan);
}

TEST(ConcatTest, AResultThatIsReadOnIsWrittenByItsReader) {
  const Plan plan = checked({Shape{4, 8}, Shape{4, 8}}, [](const Tensors& in) {
    const Tensor joined = concat({in[0] + 1.0, in[1]}, 1);
    return Tensors{joined, sum(joined * joined, {1})};
  });
  EXPECT_EQ(plan.groups.size(), 1u) << to_string(plan);
}

TEST(ConcatTest, PartsOfOneShapeAreStoredByOneKernel) {
  const Plan plan = checked({Shape{4, 8}, Shape{4, 8}, Shape{4, 8}}, [](const Tensors& in) {
    return Tensors{concat({exp(in[0]), in[1], in[2] * 2.0}, 1)};
  });
  EXPECT_EQ(plan.groups.size(), 1u) << to_string(plan);
  EXPECT_EQ(elements_of(plan, Op::where), 0);
}

TEST(ConcatTest, CopiesOfSeveralSizesTakeOneKernel) {
  const Plan plan = checked({Shape{3, 64, 16}, Shape{3, 8, 16}}, [](const Tensors& in) {
    return Tensors{concat({in[0], in[1]}, 1)};
  });
  EXPECT_EQ(plan.groups.size(), 1u) << to_string(plan);
  EXPECT_EQ(bytes_of(plan), 2 * 3 * 72 * 16 * 4);
}

// --- what stays in memory ---

TEST(ConcatTest, HeavyPartsAreComputedOnce) {
  const Plan plan = checked({Shape{4, 8}, Shape{4, 8}}, [](const Tensors& in) {
    return Tensors{concat({tanh(in[0]), in[1]}, 1) * 2.0};
  });
  EXPECT_EQ(elements_of(plan, Op::tanh), 4 * 8) << to_string(plan);
  EXPECT_EQ(plan.groups.size(), 2u) << to_string(plan);
  const Plan both = checked({Shape{4, 8}, Shape{4, 8}}, [](const Tensors& in) {
    return Tensors{concat({tanh(in[0]), exp(in[1])}, 1) * 2.0};
  });
  EXPECT_EQ(elements_of(both, Op::tanh) + elements_of(both, Op::exp), 2 * 4 * 8);
  EXPECT_EQ(elements_of(both, Op::where), 0) << to_string(both);
}

TEST(ConcatTest, LongChainsAreComputedOnce) {
  const Plan plan = checked({Shape{4, 8}, Shape{4, 8}}, [](const Tensors& in) {
    Tensor x = in[0];
    for (int i = 0; i < 12; ++i) x = x * 1.5 + in[1];
    return Tensors{rolled(x, 3, 1) * 2.0};
  });
  EXPECT_EQ(elements_of(plan, Op::add), 12 * 4 * 8) << to_string(plan);
}

TEST(ConcatTest, ManyPartsAreStored) {
  const Plan plan = checked({Shape{4, 40}}, [](const Tensors& in) {
    std::vector<Tensor> parts;
    for (int i = 0; i < 20; ++i) parts.push_back(slice(in[0], 1, 2 * (19 - i), 2 * (19 - i) + 2));
    return Tensors{concat(parts, 1) + in[0]};
  });
  EXPECT_EQ(elements_of(plan, Op::where), 0) << to_string(plan);
}

TEST(ConcatTest, MatrixProductsReadAStoredConcat) {
  const Plan plan = checked({Shape{4, 8}, Shape{4, 8}, Shape{16, 5}}, [](const Tensors& in) {
    return Tensors{matmul(concat({in[0], -in[1]}, 1), in[2])};
  });
  EXPECT_EQ(plan.groups.size(), 2u) << to_string(plan);
  EXPECT_EQ(elements_of(plan, Op::where), 0) << to_string(plan);
}

TEST(ConcatTest, WithoutFusionPartsAreStored) {
  const Graph graph = trace_graph(
      {Shape{4, 8}}, [](const Tensors& in) { return Tensors{in[0] * rolled(in[0], 3, 1)}; });
  const Graph simplified = simplify(graph, {.fuse = false});
  EXPECT_TRUE(std::any_of(simplified.nodes.begin(), simplified.nodes.end(),
                          [](const Node& node) { return node.op == Op::concat; }));
}

TEST(ConcatTest, KernelsDoNotShareConditions) {
  const Plan plan = checked({Shape{4, 8}, Shape{4, 8}}, [](const Tensors& in) {
    Tensor x = in[0];
    for (int i = 0; i < 3; ++i) x = tanh(x * rolled(x, 3, 1));
    return Tensors{x};
  });
  EXPECT_EQ(plan.groups.size(), 3u) << to_string(plan);
  for (const UnfusedEdge& edge : plan.unfused)
    EXPECT_NE(plan.graph[edge.producer].dtype, DType::boolean) << to_string(plan);
}

// --- reasons ---

TEST(ConcatTest, KernelsThatReadOneTensorSayWhyTheyAreApart) {
  const Plan plan = checked({Shape{8, 40}}, [](const Tensors& in) {
    return Tensors{exp(slice(in[0], 1, 0, 9)), tanh(slice(in[0], 1, 9, 40)), sum(in[0], {1})};
  });
  EXPECT_TRUE(plan.unfused.empty()) << to_string(plan);
  ASSERT_EQ(plan.shared_reads.size(), 2u) << to_string(plan);
  EXPECT_EQ(plan.shared_reads[0].source, plan.graph.inputs[0]);
  EXPECT_EQ(plan.shared_reads[0].reason, "they walk different shapes: (8, 9) and (8, 31)");
  EXPECT_EQ(plan.shared_reads[0].bytes, 8 * 9 * 4);
  EXPECT_NE(to_string(plan).find("is read by groups 0 and 1"), std::string::npos);
}

TEST(ConcatTest, EdgesThatArePaddedAreRefusedOnce) {
  const Plan plan = checked({Shape{4, 8}}, [](const Tensors& in) {
    const Tensor y = tanh(in[0]);
    return Tensors{y + rolled(y, 2, 1) + in[0]};
  });
  EXPECT_EQ(plan.groups.size(), 2u) << to_string(plan);
  EXPECT_NE(reasons(plan).find("through another view"), std::string::npos) << to_string(plan);
  EXPECT_TRUE(plan.shared_reads.empty()) << "the edge explains it: " << to_string(plan);
}

}  // namespace
}  // namespace sinter
