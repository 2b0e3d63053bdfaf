// Planning for a GPU that is not there.
#include "src/program/offline_cuda.h"

#include <gtest/gtest.h>
#include <sinter/error.h>
#include <sinter/ops.h>

#include "tests/support/trace_graph.h"

namespace sinter {
namespace {

using testing_support::trace_graph;

TEST(OfflineCuda, PlansTheKernelsOfEveryArchitecture) {
  const Graph graph = trace_graph({{{64, 256}}}, [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{softmax(in[0], 1)};
  });
  for (const CudaArchitecture& architecture : cuda_architectures()) {
    EXPECT_EQ(&find_cuda_architecture(architecture.name), &architecture);
    EXPECT_EQ(architecture.machine.kind, MachineKind::gpu);
    const Program fused = plan_for_cuda(graph, {}, architecture);
    EXPECT_EQ(fused.kernels.size(), 1u);
    EXPECT_GT(plan_for_cuda(graph, {.fuse = false}, architecture).kernels.size(), 1u);
    EXPECT_NE(stage_text(fused, "tile").find("kernel"), std::string::npos);
  }
}

TEST(OfflineCuda, CompilesIntegerPowersAndReversedViews) {
  const Graph graph = trace_graph(
      {{{64, 256}, DType::i32}, {{64, 256}, DType::i64}}, [](const std::vector<Tensor>& in) {
        const Tensor back = flip(in[0], 1);
        return std::vector<Tensor>{pow(in[0], back), pow(in[1], flip(in[0])),
                                   sum(flip(in[1], 0), 1), floor(in[0]), (in[0] > 1) + (back > 1)};
      });
  const CudaArchitecture& architecture = find_cuda_architecture("sm_90a");
  for (bool fuse : {true, false}) {
    std::string ptx;
    try {
      ptx =
          cuda_stage_text(plan_for_cuda(graph, {.fuse = fuse}, architecture), "ptx", architecture);
    } catch (const DeviceError& error) {
      GTEST_SKIP() << error.what();
    }
    EXPECT_NE(ptx.find(".entry"), std::string::npos);
  }
}

TEST(OfflineCuda, NamesWhatThereIs) {
  try {
    find_cuda_architecture("sm_1");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("sm_90a"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace sinter
