// Which results may be written over inputs, and what their kernels are told.
#include "src/program/in_place.h"

#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include "src/api/devices.h"
#include "tests/support/trace_graph.h"

namespace sinter {
namespace {

using testing_support::InputSpec;
using testing_support::trace_graph;
using Tensors = std::vector<Tensor>;

const Shape kShape{8, 8};

// A program of two inputs; `pairs`: inputs that share memory with results.
template <typename F>
std::shared_ptr<const Program> program_of(const std::vector<InPlace>& pairs, F&& f,
                                          bool fuse = true) {
  const Graph graph = trace_graph({kShape, kShape}, f);
  BuildOptions options;
  options.fuse = fuse;
  for (const Operand& output : graph.outputs)
    options.outputs.views.push_back(dense_view(output.view.shape));
  options.outputs.in_place = pairs;
  const std::vector<std::int64_t> extents(2, kShape.numel());
  return build_program(graph, extents, options, open_device("cpu"));
}

TEST(InPlacePrograms, ReplaceElementsOfPointwiseKernels) {
  const auto step = [](const Tensors& t) {
    const Tensor next = t[1] * 0.9 + t[0];
    return Tensors{t[0] - next * 0.1, next};
  };
  const auto program = program_of({{0, 0}, {1, 1}}, step);
  EXPECT_TRUE(program->runs_in_place);
  ASSERT_EQ(program->kernels.size(), 1u);
  EXPECT_TRUE(program->kernels[0].program().in_place);
  EXPECT_EQ(stage_text(*program, "source").find("__restrict"), std::string::npos);
  const auto apart = program_of({}, step);
  EXPECT_FALSE(apart->kernels[0].program().in_place);
  EXPECT_NE(stage_text(*apart, "source").find("__restrict"), std::string::npos);
}

TEST(InPlacePrograms, FollowKernelsThatReadTheInput) {
  const auto centred = [](const Tensors& t) { return Tensors{t[0] - mean(t[0])}; };
  EXPECT_TRUE(program_of({{0, 0}}, centred, false)->runs_in_place)
      << "the last kernel reads the mean and the input, element by element";
  const auto last = [](const Tensors& t) { return Tensors{exp(t[1]), sum(t[0] * t[1], {1})}; };
  EXPECT_FALSE(program_of({{1, 0}}, last, false)->runs_in_place) << "a later kernel reads it";
}

TEST(InPlacePrograms, RefuseKernelsThatReadOtherElements) {
  const auto refused = [&](const std::vector<InPlace>& pairs, const auto& f) {
    return !program_of(pairs, f)->runs_in_place;
  };
  EXPECT_TRUE(refused({{0, 0}}, [](const Tensors& t) { return Tensors{softmax(t[0])}; }));
  EXPECT_TRUE(
      refused({{0, 0}}, [](const Tensors& t) { return Tensors{transpose(t[0], 0, 1) * 2}; }));
  EXPECT_TRUE(
      refused({{0, 0}}, [](const Tensors& t) { return Tensors{t[0] + transpose(t[0], 0, 1)}; }));
  EXPECT_TRUE(refused({{0, 0}}, [](const Tensors& t) { return Tensors{flip(t[0])}; }));
  EXPECT_TRUE(refused({{0, 0}}, [](const Tensors& t) {
    return Tensors{t[0] + 1, t[0]};
  })) << "the second result is the old input";
  EXPECT_TRUE(refused({{0, 0}, {1, 1}}, [](const Tensors& t) {
    return Tensors{t[1] * 2, t[0] * 2};
  })) << "nothing orders the first result's store after the load for the second";
  EXPECT_TRUE(refused({{0, 0}}, [](const Tensors& t) { return Tensors{cast(t[0], DType::i32)}; }))
      << "another dtype";
}

}  // namespace
}  // namespace sinter
