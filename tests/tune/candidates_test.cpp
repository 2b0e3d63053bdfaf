// Every candidate of the tuner computes the same as the heuristic's config on the SIMT executor:
// within rounding, or bitwise for those that promise the same bits.
#include <gtest/gtest.h>
#include <sinter/error.h>
#include <sinter/ops.h>

#include <map>

#include "src/api/devices.h"
#include "src/fuse/plan.h"
#include "src/graph/simplify.h"
#include "src/tune/tuner.h"
#include "tests/support/trace_graph.h"

namespace sinter {
namespace {

using testing_support::InputSpec;
using testing_support::trace_graph;
using Tensors = std::vector<Tensor>;

// One at a time, so that little is compiled twice; simt timings are meaningless.
class Candidates : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      device_ = open_device("simt");
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  template <typename F>
  void check(const std::vector<InputSpec>& inputs, F&& f, bool same_bits) {
    const Graph graph = simplify(trace_graph(inputs, f));
    const Plan plan =
        make_plan(graph, fusion_options(true, device_->parallelism(), device_->machine()));
    ASSERT_EQ(plan.groups.size(), 1u);
    std::map<NodeId, std::vector<float>> memory;
    const auto bind = [&](const KernelBuffer& buffer) -> tile::BufferBinding {
      std::vector<float>& all = memory[buffer.node];
      if (all.empty()) {
        all.resize(static_cast<std::size_t>(plan.graph[buffer.node].shape.numel()));
        for (std::size_t i = 0; i < all.size(); ++i)
          all[i] = static_cast<float>(i * 7919 % 10007) / 5000 - 1;
      }
      return {all.data() + buffer.offset, static_cast<std::int64_t>(all.size()) - buffer.offset};
    };
    TunerOptions options;
    options.seconds = 1e6;
    options.same_bits = same_bits;
    const TunedKernel tuned =
        tune_kernel(*device_, {plan, 0, device_->machine(), bind, {}}, options);
    RecordProperty("candidates", tuned.candidates);
    EXPECT_GT(tuned.candidates, 1);
    EXPECT_EQ(tuned.wrong, 0);
    EXPECT_EQ(tuned.failed, 0) << tuned.first_failure;
  }

  std::shared_ptr<Device> device_;
};

Tensors softmax_of(const Tensors& in) { return {softmax(in[0])}; }

TEST_F(Candidates, Rows) { check({{{5, 1000}}}, softmax_of, false); }
TEST_F(Candidates, RowsWithTheSameBits) { check({{{5, 1000}}}, softmax_of, true); }
TEST_F(Candidates, ShortRows) { check({{{37, 60}}}, softmax_of, false); }
TEST_F(Candidates, LongRows) { check({{{2, 12000}}}, softmax_of, false); }
TEST_F(Candidates, Transposed) {
  check(
      {{{70, 90}}, {{90, 70}}},
      [](const Tensors& in) { return Tensors{in[0] + transpose(in[1], 0, 1)}; }, false);
}
TEST_F(Candidates, SharedOperand) {
  check(
      {{{40, 516}}, {{516}}}, [](const Tensors& in) { return Tensors{exp(in[0]) + in[1]}; }, false);
}

}  // namespace
}  // namespace sinter
