// Which operation of the program a node comes from.
#include "src/api/origin.h"

#include <gtest/gtest.h>
#include <sinter/ops.h>

namespace sinter {
namespace {

Graph traced(const std::function<Tensor(const Tensor&)>& function) {
  const auto trace = std::make_shared<Trace>();
  const Tensor x = trace->traced(trace->build.input(DType::f32, {4, 8}));
  const TraceScope scope(trace.get());
  trace->graph.outputs.push_back(trace->operand(function(x)));
  return trace->graph;
}

TEST(Origin, AnOperationIsOneOriginWhateverItCalls) {
  const Graph graph = traced([](const Tensor& x) { return softmax(softmax(x)) + 1; });
  ASSERT_EQ(graph.origins.size(), 3u);
  EXPECT_EQ(to_string(graph.origins[0]), "softmax");
  EXPECT_EQ(to_string(graph.origins[1]), "softmax") << "another call";
  EXPECT_EQ(to_string(graph.origins[2]), "add");
  verify(graph);
}

// Eager operations have a trace each, one after the other in the same memory.
TEST(Origin, EveryTraceHasItsOwn) {
  const OperationName name("outer");
  for (int i = 0; i < 3; ++i) {
    const Graph graph = traced([](const Tensor& x) { return exp(x) * 2; });
    verify(graph);
    ASSERT_EQ(graph.origins.size(), 1u);
    EXPECT_EQ(to_string(graph.origins[0]), "outer");
  }
}

}  // namespace
}  // namespace sinter
