// Sums made in their maximum's pass (src/lower/online.h) as GPU kernels on the simt device.
#include <gtest/gtest.h>

#include "src/runtime/compile_kernel.h"
#include "tests/simt/kernel_text.h"
#include "tests/support/online_programs.h"

namespace sinter {
namespace {

void run_on_simt(const Kernel& kernel, const std::vector<tile::BufferBinding>& buffers) {
  compile_kernel(simt_test::device(), kernel.program())
      ->launch(buffers, scalar_words(kernel), kernel.grid, 0);
}

TEST(SimtOnlineSum, IsRightAlongRows) {
  testing_support::expect_online_right(DType::f32, 1, run_on_simt);
  testing_support::expect_online_right(DType::bf16, 1, run_on_simt);
}

TEST(SimtOnlineSum, IsRightAlongColumns) {
  testing_support::expect_online_right(DType::f32, 0, run_on_simt);
  testing_support::expect_online_right(DType::f16, 0, run_on_simt);
}

}  // namespace
}  // namespace sinter
