// Launches and graphs: what reaches the driver, and which variant. With a fake driver.
#include "src/cuda/cuda_kernel.h"

#include <sinter/error.h>

#include <filesystem>

#include "src/cuda/cuda_graph.h"
#include "tests/cuda/fake/fake_device.h"

namespace sinter {
namespace {

using tile::BufferBinding;

BufferBinding buffer(std::uintptr_t address) { return {reinterpret_cast<void*>(address), 100}; }

class CudaKernelTest : public FakeDevice {
 protected:
  CudaKernelTest() : primary_(CudaContext::primary(*driver_, 0)) { reset_parts(""); }

  void reset_parts(const std::string& cache_dir) {
    streams_ = std::make_shared<CudaStreams>(primary_);
    compiler_ =
        std::make_shared<CudaCompiler>(primary_, Nvrtc::load({SINTER_FAKE_NVRTC}), cache_dir);
  }

  // A persistent kernel, whose blocks run one program after another.
  std::shared_ptr<const CudaKernel> fetching_kernel(int cluster, int fetch_bytes) {
    fake_.argument_words = 1;
    KernelSource source;
    source.name = "k";
    source.body = "fetches";
    source.entry = "sinter_k";
    source.words = 1;
    source.fetch_bytes = fetch_bytes;
    source.mapping.threads = 256;
    source.mapping.cluster = cluster;
    source.mapping.prefetch = 1;
    return std::make_shared<CudaKernel>(primary_, streams_, compiler_, source);
  }

  std::shared_ptr<const CudaKernel> kernel(int words, int cluster = 1,
                                           const std::string& text = "text") {
    fake_.argument_words = static_cast<std::size_t>(words);
    KernelSource source;
    source.name = "k";
    source.prologue = "#define SN_ALIGNED true\n";
    source.body = text;
    source.entry = "sinter_k";
    source.words = words;
    source.alignments = {16, 16};
    source.alignments.resize(static_cast<std::size_t>(words), 4);
    source.mapping.threads = 256;
    source.mapping.cluster = cluster;
    return std::make_shared<CudaKernel>(primary_, streams_, compiler_, source);
  }

  CudaContextPtr primary_;
  std::shared_ptr<CudaStreams> streams_;
  std::shared_ptr<const CudaCompiler> compiler_;
};

TEST_F(CudaKernelTest, TheArgumentIsAddressesScalarsPrograms) {
  const auto k = kernel(5);
  const std::vector<BufferBinding> buffers = {buffer(0x1000), buffer(0x2000)};
  k->launch(buffers, std::vector<std::int64_t>{-7, 42}, 33, 0);
  ASSERT_EQ(fake_.launches.size(), 1u);
  const FakeLaunch& launch = fake_.launches[0];
  EXPECT_EQ(launch.words, (std::vector<std::uint64_t>{0x1000, 0x2000, ~std::uint64_t{6}, 42, 33}));
  EXPECT_EQ(launch.function, "sinter_k");
  EXPECT_EQ(launch.blocks, 33u);
  EXPECT_EQ(launch.threads, 256u);
  EXPECT_EQ(launch.cluster, 0u);
  EXPECT_TRUE(launch.programmatic);
  EXPECT_EQ(launch.stream, streams_->own());
}

TEST_F(CudaKernelTest, NoProgramsNoLaunch) {
  kernel(1)->launch({}, {}, 0, 0);
  EXPECT_TRUE(fake_.launches.empty());
}

TEST_F(CudaKernelTest, ClustersMultiplyTheGrid) {
  kernel(1, 4)->launch({}, {}, 10, 0);
  EXPECT_EQ(fake_.launches[0].blocks, 40u);
  EXPECT_EQ(fake_.launches[0].cluster, 4u);
  EXPECT_EQ(fake_.calls["cuFuncSetAttribute"], 0);
  const auto large = kernel(1, 16);
  EXPECT_EQ(fake_.calls["cuFuncSetAttribute"], 1);
  large->launch({}, {}, 2, 0);
  EXPECT_EQ(fake_.launches[1].blocks, 32u);
  EXPECT_THROW(large->launch({}, {}, std::int64_t{1} << 30, 0), UserError);
  EXPECT_EQ(fake_.launches.size(), 2u);
}

// The fake has 132 multiprocessors, each with room for one block's 60 KiB.
TEST_F(CudaKernelTest, PrefetchingKernelsLaunchOnlyResidentBlocks) {
  const auto k = fetching_kernel(1, 60 << 10);
  k->launch({}, {}, 10000, 0);
  EXPECT_EQ(fake_.launches[0].blocks, 132u);
  EXPECT_EQ(fake_.launches[0].shared_bytes, 60u << 10);
  EXPECT_EQ(fake_.launches[0].words, (std::vector<std::uint64_t>{10000}));
  k->launch({}, {}, 7, 0);
  EXPECT_EQ(fake_.launches[1].blocks, 7u) << "no more than programs";
  fetching_kernel(4, 60 << 10)->launch({}, {}, 10000, 0);
  EXPECT_EQ(fake_.launches[2].blocks, 132u) << "33 clusters of 4";
  EXPECT_EQ(fake_.launches[2].cluster, 4u);
}

TEST_F(CudaKernelTest, BeforeHopperKernelsDoNotOverlap) {
  fake_.compute_major = 8;
  primary_ = CudaContext::primary(*driver_, 0);
  reset_parts("");
  EXPECT_EQ(compiler_->target().architecture, "sm_80");
  kernel(1)->launch({}, {}, 1, 0);
  EXPECT_FALSE(fake_.launches[0].programmatic);
}

TEST_F(CudaKernelTest, AnUnalignedBufferTakesTheOtherVariantOnceCompiled) {
  const auto k = kernel(3);
  const std::vector<BufferBinding> aligned = {buffer(0x1000), buffer(0x2010)};
  const std::vector<BufferBinding> unaligned = {buffer(0x1000), buffer(0x2008)};
  k->launch(aligned, {}, 1, 0);
  EXPECT_EQ(nvrtc_.compiled, 1);
  for (int i = 0; i < 3; ++i) k->launch(unaligned, {}, 1, 0);
  EXPECT_EQ(nvrtc_.compiled, 2);
  k->launch(aligned, {}, 1, 0);
  EXPECT_EQ(fake_.launches[0].image, "cubin of #define SN_ALIGNED true\ntext");
  EXPECT_EQ(fake_.launches[1].image, "cubin of #define SN_ALIGNED false\ntext");
  EXPECT_EQ(fake_.launches[3].image, "cubin of #define SN_ALIGNED false\ntext");
  EXPECT_EQ(fake_.launches[4].image, "cubin of #define SN_ALIGNED true\ntext");
}

TEST_F(CudaKernelTest, ABufferNeedsNoMoreAlignmentThanItsAccesses) {
  const auto k = kernel(4);  // the third buffer's accesses are 4 bytes wide
  k->launch(std::vector<BufferBinding>{buffer(0x1000), buffer(0x2010), buffer(0x3004)}, {}, 1, 0);
  EXPECT_EQ(nvrtc_.compiled, 1);
  k->launch(std::vector<BufferBinding>{buffer(0x1000), buffer(0x2010), buffer(0x3002)}, {}, 1, 0);
  EXPECT_EQ(nvrtc_.compiled, 2);
}

TEST_F(CudaKernelTest, TheThreadsStreamIsUsedAndTheCallersContextLeft) {
  const auto k = kernel(1);
  fake_.current = fake_.created;
  CudaStreamUse* const use = streams_->enter(stream(1600));
  k->launch({}, {}, 1, 0);
  streams_->leave(use);
  EXPECT_EQ(fake_.launches[0].stream, stream(1600));
  EXPECT_EQ(fake_.current, fake_.created);
}

TEST_F(CudaKernelTest, AFailedLaunchSaysSo) {
  const auto k = kernel(1);
  fake_.failing_call = "cuLaunchKernelEx";
  fake_.failing_code = 719;
  try {
    k->launch({}, {}, 1, 0);
    FAIL();
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.call(), "cuLaunchKernelEx");
    EXPECT_EQ(error.code(), 719);
  }
}

TEST_F(CudaKernelTest, OptionsNameTheGpu) {
  kernel(1);
  EXPECT_EQ(nvrtc_.options, (std::vector<std::string>{"-std=c++17", "-default-device", "-minimal",
                                                      "--gpu-architecture=sm_90a"}));
}

TEST_F(CudaKernelTest, ACubinIsKeptOnDiskAndReplacedWhereItDoesNotLoad) {
  const std::string directory = testing::TempDir() + "/cuda_kernel_test_cache";
  std::filesystem::remove_all(directory);
  reset_parts(directory);
  EXPECT_FALSE(kernel(1)->stats().from_disk);
  EXPECT_TRUE(kernel(1)->stats().from_disk);
  EXPECT_EQ(nvrtc_.compiled, 1);
  // Another NVRTC version gives another kernel.
  nvrtc_.minor = 9;
  reset_parts(directory);
  EXPECT_FALSE(kernel(1)->stats().from_disk);
  EXPECT_EQ(nvrtc_.compiled, 2);
  // An image that the driver rejects is compiled again.
  fake_.failing_call = "cuModuleLoadData";
  fake_.failing_code = 209;
  EXPECT_THROW(kernel(1), DeviceError);
  EXPECT_EQ(nvrtc_.compiled, 3);
  fake_.failing_call = "";
  EXPECT_TRUE(kernel(1)->stats().from_disk);
  std::filesystem::remove_all(directory);
}

TEST_F(CudaKernelTest, UnloadableImagesAreReportedWithBothVersions) {
  nvrtc_.image_prefix = "damaged ";
  try {
    kernel(1);
    FAIL();
  } catch (const DeviceError& error) {
    EXPECT_STREQ(error.what(),
                 "[cuda] the driver (CUDA 12.4) does not load kernel k, compiled by NVRTC 12.8 for "
                 "sm_90a: CUDA_ERROR_FAKE (200): as the test wanted");
  }
}

TEST_F(CudaKernelTest, ATextThatDoesNotCompileIsACompileError) {
  EXPECT_THROW(kernel(1, 1, "#error"), CompileError);
}

class CudaGraphTest : public CudaKernelTest {
 protected:
  std::unique_ptr<LaunchGraph> graph_of(const std::vector<GraphStep>& steps) {
    return make_cuda_graph(primary_, streams_, steps);
  }
};

TEST_F(CudaGraphTest, ATooLargeGridIsSaidBeforeAnythingIsCaptured) {
  const std::vector<std::int64_t> none;
  EXPECT_THROW(graph_of({{kernel(1), 0, none, std::int64_t{1} << 31}}), UserError);
  EXPECT_EQ(fake_.calls["cuStreamBeginCapture"], 0);
}

TEST_F(CudaGraphTest, IsCapturedOnceAndReboundWhereBuffersChange) {
  const auto k = kernel(3);
  const std::vector<std::int64_t> none;
  const auto graph = graph_of({{k, 2, none, 8}, {k, 2, none, 0}, {k, 2, none, 5}});
  ASSERT_EQ(fake_.graph_nodes.size(), 2u);  // no node for no programs
  EXPECT_TRUE(fake_.graph_nodes[0].programmatic);
  std::vector<BufferBinding> buffers = {buffer(0x1000), buffer(0x2000), buffer(0),
                                        buffer(0),      buffer(0x2000), buffer(0x3000)};
  graph->launch(buffers, {});
  EXPECT_EQ(fake_.nodes_set, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(fake_.graph_nodes[0].words, (std::vector<std::uint64_t>{0x1000, 0x2000, 8}));
  EXPECT_EQ(fake_.graph_nodes[1].words, (std::vector<std::uint64_t>{0x2000, 0x3000, 5}));
  graph->launch(buffers, {});
  EXPECT_EQ(fake_.nodes_set.size(), 2u);
  buffers[5] = buffer(0x4000);
  graph->launch(buffers, {});
  EXPECT_EQ(fake_.nodes_set, (std::vector<std::size_t>{0, 1, 1}));
  EXPECT_EQ(fake_.graph_nodes[1].words, (std::vector<std::uint64_t>{0x2000, 0x4000, 5}));
  EXPECT_EQ(fake_.graph_launches, std::vector<void*>(3, streams_->own()));
  EXPECT_EQ(fake_.calls["cuStreamBeginCapture"], 1);
  EXPECT_TRUE(fake_.launches.empty());
}

TEST_F(CudaGraphTest, ChangedScalarsAreSetInTheirNodesWithoutCapturingAgain) {
  const auto k = kernel(4);
  const std::vector<std::int64_t> scalars = {7, 11};
  const auto graph = graph_of({{k, 1, scalars, 8}, {k, 1, scalars, 5}});
  const std::vector<BufferBinding> buffers = {buffer(0x1000), buffer(0x2000)};
  graph->launch(buffers, {});
  EXPECT_EQ(fake_.graph_nodes[1].words, (std::vector<std::uint64_t>{0x2000, 7, 11, 5}));
  graph->launch(buffers, std::vector<std::int64_t>{7, 11, 7, 12});
  EXPECT_EQ(fake_.nodes_set, (std::vector<std::size_t>{0, 1, 1})) << "only the second changed";
  EXPECT_EQ(fake_.graph_nodes[0].words, (std::vector<std::uint64_t>{0x1000, 7, 11, 8}));
  EXPECT_EQ(fake_.graph_nodes[1].words, (std::vector<std::uint64_t>{0x2000, 7, 12, 5}));
  EXPECT_EQ(fake_.calls["cuStreamBeginCapture"], 1);
}

TEST_F(CudaGraphTest, AnUnalignedBufferTakesTheOtherVariant) {
  const auto k = kernel(2);
  const std::vector<std::int64_t> none;
  const auto graph = graph_of({{k, 1, none, 1}});
  graph->launch(std::vector<BufferBinding>{buffer(0x1008)}, {});
  EXPECT_EQ(fake_.graph_nodes[0].image, "cubin of #define SN_ALIGNED false\ntext");
  graph->launch(std::vector<BufferBinding>{buffer(0x1000)}, {});
  EXPECT_EQ(fake_.graph_nodes[0].image, "cubin of #define SN_ALIGNED true\ntext");
}

TEST_F(CudaGraphTest, WhereOverlapCannotBeCapturedItIsLeftOut) {
  fake_.captures_programmatic = false;
  const auto k = kernel(1);
  const auto graph = graph_of({{k, 0, {}, 1}});
  ASSERT_EQ(fake_.graph_nodes.size(), 1u);
  EXPECT_FALSE(fake_.graph_nodes[0].programmatic);
}

TEST_F(CudaGraphTest, ANodeThatCouldNotBeSetIsSetByTheNextCall) {
  const auto k = kernel(2);
  const auto graph = graph_of({{k, 1, {}, 1}});
  const std::vector<BufferBinding> first = {buffer(0x1000)};
  graph->launch(first, {});
  fake_.failing_call = "cuGraphExecKernelNodeSetParams";
  fake_.failing_code = 1;
  EXPECT_THROW(graph->launch(std::vector<BufferBinding>{buffer(0x2000)}, {}), DeviceError);
  fake_.failing_call = "";
  graph->launch(first, {});
  EXPECT_EQ(fake_.nodes_set.size(), 2u);
}

TEST_F(CudaGraphTest, NothingStaysOpen) {
  const auto k = kernel(1);
  graph_of({{k, 0, {}, 1}});
  EXPECT_TRUE(fake_.graphs.empty());
  for (const char* call : {"cuStreamBeginCapture", "cuStreamEndCapture", "cuGraphInstantiate",
                           "cuStreamGetCaptureInfo", "cuLaunchKernelEx"}) {
    fake_.failing_call = call;
    fake_.failing_code = 901;
    EXPECT_THROW(graph_of({{k, 0, {}, 1}}), DeviceError) << call;
    fake_.capturing = nullptr;
    EXPECT_TRUE(fake_.graphs.empty()) << call;
  }
}

}  // namespace
}  // namespace sinter
