// NVRTC compiles the kernels of every case for every architecture; no GPU is needed.
#include <gtest/gtest.h>
#include <sinter/error.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "src/api/devices.h"
#include "src/api/trace.h"
#include "src/base/processors.h"
#include "src/codegen/cuda/renderer.h"
#include "src/cpu/thread_pool.h"
#include "src/cuda/nvrtc.h"
#include "src/program/offline_cuda.h"
#include "src/suite/cases/case.h"
#include "src/suite/cases/inputs.h"

namespace sinter::suite {
namespace {

constexpr Shape2 kShapes[] = {{128, 128}, {37, 1000}, {65536, 128}, {128, 65536}, {3, 300'000}};

// The first user of each kernel, by architecture and text, so that nothing is compiled twice.
using Kernels = std::map<std::pair<std::string, std::string>, std::string>;

void add_kernels(const Case& each, const Shape2& shape, DType dtype,
                 const CudaArchitecture& architecture, Kernels& kernels) {
  const auto trace =
      trace_function(each.program, unbacked_inputs(each, shape, dtype, open_device("cpu")));
  for (const Kernel& kernel : plan_for_cuda(trace->graph, {}, architecture).kernels) {
    const std::string title = each.name + " " + to_string(shape) + " " +
                              std::string(name_of(dtype)) + " " + architecture.name;
    kernels.try_emplace({architecture.name, render_cuda(kernel.program()).text()}, title);
  }
}

class CudaCompile : public ::testing::TestWithParam<std::string> {};

TEST_P(CudaCompile, EveryCase) {
  std::shared_ptr<const Nvrtc> nvrtc;
  try {
    nvrtc = Nvrtc::find(0);
  } catch (const DeviceError& error) {
    GTEST_SKIP() << error.what();
  }
  const CudaArchitecture& architecture = find_cuda_architecture(GetParam());
  const auto& known = nvrtc->architectures();
  if (std::find(known.begin(), known.end(), std::atoi(GetParam().c_str() + 3)) == known.end())
    GTEST_SKIP() << "NVRTC " << nvrtc->version_text() << " does not know " << GetParam();

  Kernels kernels;
  for (const Case& each : all_cases())
    for (const Shape2& shape : kShapes)
      for (DType dtype : {DType::f32, DType::bf16})
        add_kernels(each, shape, dtype, architecture, kernels);
  EXPECT_GE(kernels.size(), all_cases().size());

  std::mutex mutex;
  ThreadPool threads(available_cpus());
  threads.parallel_for(std::ssize(kernels), 0, [&](std::int64_t first, std::int64_t last, char*) {
    for (auto it = std::next(kernels.begin(), first); first < last; ++first, ++it) {
      std::string failure;
      try {
        nvrtc->compile(it->first.second, it->second, GetParam(), CudaImage::cubin);
      } catch (const Error& error) {
        failure = error.what();
      }
      const std::lock_guard lock(mutex);
      EXPECT_EQ(failure, "") << it->second;
    }
  });
  RecordProperty("kernels", std::to_string(kernels.size()));
}

std::vector<std::string> architecture_names() {
  std::vector<std::string> names;
  for (const CudaArchitecture& each : cuda_architectures()) names.push_back(each.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Nvrtc, CudaCompile, ::testing::ValuesIn(architecture_names()),
                         [](const auto& which) { return which.param; });

}  // namespace
}  // namespace sinter::suite
