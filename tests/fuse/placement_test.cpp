// The layout of results if a caller requests one: that layout, or dense if it is impossible.
#include "src/fuse/placement.h"

#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include "tests/support/trace_graph.h"

namespace sinter {
namespace {

using testing_support::trace_graph;
using Tensors = std::vector<Tensor>;

constexpr std::int64_t kRows = 6;
constexpr std::int64_t kCols = 8;
const Shape kShape{kRows, kCols};
const View kInWideRows{kShape, {100, 1}, 0};
const View kTransposed{kShape, {1, kRows}, 0};

template <typename F>
Plan plan_for(const std::vector<View>& wanted, bool fuse, F&& f) {
  const Graph graph = trace_graph({kShape}, f);
  FusionOptions options;
  options.fuse = fuse;
  Plan plan = make_plan(graph, options, wanted);
  verify(plan);
  return plan;
}

View lies(const Plan& plan, std::size_t output) {
  return plan.buffer_view(plan.graph.outputs[output]);
}

TEST(PlacedResults, LieAsWanted) {
  for (const View& wanted : {kInWideRows, kTransposed}) {
    const Plan plan =
        plan_for({wanted}, true, [](const Tensors& t) { return Tensors{exp(t[0]) * 2}; });
    EXPECT_EQ(lies(plan, 0), wanted);
    EXPECT_EQ(plan.groups.size(), 1u);
    const Plan rows =
        plan_for({wanted}, true, [](const Tensors& t) { return Tensors{softmax(t[0])}; });
    EXPECT_EQ(lies(rows, 0), wanted);
  }
}

TEST(PlacedResults, MayBeTransposedOrReshapedValues) {
  const View wanted{{kCols, kRows}, {kRows, 1}, 0};
  const Plan turned = plan_for({wanted}, true, [](const Tensors& t) {
    return Tensors{transpose(sum(t[0], {}, true) + exp(t[0]), 0, 1)};
  });
  EXPECT_EQ(lies(turned, 0), wanted) << "row-major, though it is computed the other way";
  const View flat{{kRows * kCols}, {3}, 0};
  const Plan reshaped =
      plan_for({flat}, true, [](const Tensors& t) { return Tensors{flatten(softmax(t[0]))}; });
  EXPECT_EQ(lies(reshaped, 0), flat);
}

TEST(PlacedResults, OfAConcatAreWrittenByItsParts) {
  const View wanted{{2 * kRows, kCols}, {50, 2}, 0};
  const Plan plan = plan_for({wanted}, true, [](const Tensors& t) {
    return Tensors{concat({exp(t[0]), tanh(t[0])}, 0)};
  });
  EXPECT_EQ(lies(plan, 0), wanted);
  EXPECT_EQ(plan.groups.size(), 1u);
}

TEST(PlacedResults, AreReadBackFromThere) {
  const Plan plan = plan_for({kInWideRows, dense_view({kRows})}, false, [](const Tensors& t) {
    const Tensor y = exp(t[0]);
    return Tensors{y, sum(y, {1})};
  });
  EXPECT_EQ(lies(plan, 0), kInWideRows);
  EXPECT_EQ(plan.groups.size(), 2u);
}

TEST(PlacedResults, StayDenseWhereAReaderCouldNotFollow) {
  const Plan plan = plan_for({kInWideRows, dense_view({2})}, false, [](const Tensors& t) {
    const Tensor y = exp(t[0]);
    return Tensors{y, sum(reshape(y, {2, kRows * kCols / 2}), {1})};
  });
  EXPECT_EQ(lies(plan, 0), dense_view(kShape)) << "half of the elements is no view of wide rows";
}

TEST(PlacedResults, ThatAreNoWholeBuffersStay) {
  const View part{{2, kCols}, {50, 1}, 0};
  const Plan plan = plan_for({kInWideRows, part, kTransposed}, true, [](const Tensors& t) {
    const Tensor y = softmax(t[0]);
    return Tensors{y, slice(y, 0, 1, 3), t[0]};
  });
  EXPECT_EQ(lies(plan, 0), kInWideRows);
  EXPECT_EQ(lies(plan, 1).strides, kInWideRows.strides) << "a part of the first result";
  EXPECT_EQ(lies(plan, 2), dense_view(kShape)) << "the input";
}

TEST(PlacedResults, AreNotTakenFromAKernelThatANodeHasToItself) {
  const auto product = [](const Tensors& t) {
    return Tensors{matmul(t[0], transpose(t[0], 0, 1))};
  };
  const Graph graph = trace_graph({kShape}, product);
  const View turned{{kRows, kRows}, {1, kRows}, 0};
  FusionOptions options;
  // Like a library that writes results by rows only.
  options.runs_alone = [](const Graph&, const Node& node, const View& result) -> std::string_view {
    return node.op == Op::contract && result.strides[1] == 1 ? "of its own kernel" : "";
  };
  EXPECT_EQ(lies(make_plan(graph, options, std::vector{turned}), 0), dense_view({kRows, kRows}));
  const View wide{{kRows, kRows}, {50, 1}, 0};
  EXPECT_EQ(lies(make_plan(graph, options, std::vector{wide}), 0), wide);
  options.runs_alone = nullptr;
  EXPECT_EQ(lies(make_plan(graph, options, std::vector{turned}), 0), turned);
}

}  // namespace
}  // namespace sinter
