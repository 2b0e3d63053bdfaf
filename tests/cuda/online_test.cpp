// Sums made in their maximum's pass (src/lower/online.h): NVRTC takes their kernels, and on a GPU
// they are right on hard rows.
#include <gtest/gtest.h>
#include <sinter/error.h>

#include "src/program/offline_cuda.h"
#include "src/runtime/compile_kernel.h"
#include "tests/support/gpu.h"
#include "tests/support/online_programs.h"

namespace sinter {
namespace {

using testing_support::online_programs;

TEST(OnlineKernels, CompileForEveryArchitecture) {
  for (const CudaArchitecture& architecture : cuda_architectures())
    for (DType dtype : {DType::f32, DType::bf16, DType::f64}) {
      // Rows that do not fit on chip, and columns.
      for (int axis : {1, 0}) {
        const Shape shape = axis == 1 ? Shape{300, 300000} : Shape{40000, 500};
        const Graph graph = online_programs(shape[0], shape[1], dtype, axis)[0].graph;
        const Program program = plan_for_cuda(graph, {}, architecture);
        ASSERT_EQ(program.kernels.size(), 1u);
        ASSERT_TRUE(is_online(program.kernels[0].config)) << to_string(program.kernels[0].config);
        try {
          const std::string ptx = cuda_stage_text(program, "ptx", architecture);
          EXPECT_NE(ptx.find(".entry"), std::string::npos);
        } catch (const DeviceError& error) {
          GTEST_SKIP() << error.what();
        }
      }
    }
}

void run_on_gpu(const Kernel& kernel, const std::vector<tile::BufferBinding>& buffers) {
  Device& device = *open_device("cuda");
  std::vector<StoragePtr> storages;
  std::vector<tile::BufferBinding> there;
  const auto bytes_of = [&](std::size_t i) {
    return static_cast<std::size_t>(buffers[i].elements) *
           size_of(kernel.program().buffers[i].dtype);
  };
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    storages.push_back(device.allocate(bytes_of(i)));
    device.copy_from_host(storages[i]->data(), buffers[i].data, bytes_of(i));
    there.push_back({storages[i]->data(), buffers[i].elements});
  }
  compile_kernel(device, kernel.program())->launch(there, scalar_words(kernel), kernel.grid, 0);
  for (std::size_t i = 0; i < buffers.size(); ++i)
    device.copy_to_host(buffers[i].data, storages[i]->data(), bytes_of(i));
}

TEST(GpuOnlineSum, IsRightOnHardRows) {
  SINTER_NEEDS_GPU();
  for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16})
    for (int axis : {0, 1}) testing_support::expect_online_right(dtype, axis, run_on_gpu);
}

}  // namespace
}  // namespace sinter
