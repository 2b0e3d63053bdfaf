// The suite's cases through the API on a GPU against the suite's f64 references: shapes that fit
// their tiles and shapes that do not, short rows and rows longer than a block or a cluster.
#include <gtest/gtest.h>

#include <exception>
#include <thread>
#include <vector>

#include "tests/support/gpu.h"
#include "tests/support/suite_accuracy.h"

namespace sinter::suite {
namespace {

constexpr Shape2 kShapes[] = {{128, 128}, {7, 129},    {33, 64}, {2, 9000},
                              {5, 70000}, {3, 300000}, {1, 1},   {65, 4097}};

class GpuSuiteCase : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { SINTER_NEEDS_GPU(); }
};

// A thread for each: compiling the kernels takes longest.
TEST_P(GpuSuiteCase, IsAccurate) {
  std::vector<std::thread> threads;
  for (const Shape2& shape : kShapes)
    for (DType dtype : {DType::f32, DType::f16, DType::bf16})
      threads.emplace_back([&shape, dtype] {
        try {
          expect_accurate(GetParam(), shape, dtype, open_device("cuda"));
        } catch (const std::exception& error) {
          ADD_FAILURE() << to_string(shape) << " " << name_of(dtype) << ": " << error.what();
        }
      });
  for (std::thread& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(Cases, GpuSuiteCase, testing::ValuesIn(all_cases()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace sinter::suite
