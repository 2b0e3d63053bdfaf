// The suite's cases through the API on a GPU against the suite's f64 references: shapes that fit
// their tiles and shapes that do not, short rows and rows longer than a block or a cluster, and
// more rows than run at once, where persistent blocks prefetch the next.
#include <gtest/gtest.h>

#include <cstdlib>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/gpu.h"
#include "tests/support/suite_accuracy.h"

namespace sinter::suite {
namespace {

constexpr DType kDTypes[] = {DType::f32, DType::f16, DType::bf16};
constexpr Shape2 kShapes[] = {{128, 128},  {7, 129}, {33, 64},   {2, 9000},   {5, 70000},
                              {3, 300000}, {1, 1},   {65, 4097}, {700, 16384}};

// For compute-sanitizer (scripts/sanitize_gpu), one after the other.
constexpr std::pair<Shape2, DType> kSmall[] = {{{7, 129}, DType::f32},
                                               {{128, 128}, DType::bf16},
                                               {{2, 9000}, DType::f32},
                                               {{1, 70000}, DType::f16}};

class GpuSuiteCase : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { SINTER_NEEDS_GPU(); }
};

// A thread for each: compiling the kernels takes longest. SINTER_SMALL_SHAPES=1: a few only.
TEST_P(GpuSuiteCase, IsAccurate) {
  if (std::getenv("SINTER_SMALL_SHAPES")) {
    for (const auto& [shape, dtype] : kSmall)
      expect_accurate(GetParam(), shape, dtype, open_device("cuda"));
    if (GetParam().name == "layernorm")
      expect_accurate(GetParam(), {300, 16384}, DType::f32, open_device("cuda"));  // prefetches
    return;
  }
  std::vector<std::thread> threads;
  for (const Shape2& shape : kShapes)
    for (DType dtype : kDTypes)
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
