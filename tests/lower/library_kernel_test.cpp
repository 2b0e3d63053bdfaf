// Kernels that call a library: their arguments are checked against the call.
#include <gtest/gtest.h>
#include <sinter/error.h>

#include "src/lower/kernel.h"

namespace sinter {
namespace {

// (4, 8) times (8, 6).
Kernel library_kernel() {
  LibraryMatmul call;
  call.m = 4;
  call.n = 6;
  call.k = 8;
  call.a = {.line = 8};
  call.b = {.line = 6};
  call.c = {.line = 6};
  Kernel kernel;
  kernel.body = call;
  kernel.buffers = {{0, 0, false}, {1, 0, false}, {2, 0, true}};
  kernel.grid = 1;
  return kernel;
}

TEST(LibraryKernelTest, WithOtherArgumentsThanALibraryCallTakesIsRefused) {
  EXPECT_NO_THROW(verify(library_kernel()));
  const auto expect_refused = [](const auto& change) {
    Kernel kernel = library_kernel();
    change(kernel, std::get<LibraryMatmul>(kernel.body));
    EXPECT_THROW(verify(kernel), InternalError);
  };
  expect_refused([](Kernel& kernel, LibraryMatmul&) { kernel.buffers.pop_back(); });
  expect_refused([](Kernel& kernel, LibraryMatmul&) { kernel.buffers.push_back({}); });
  expect_refused([](Kernel& kernel, LibraryMatmul&) { kernel.buffers[2].written = false; });
  expect_refused([](Kernel& kernel, LibraryMatmul&) { kernel.buffers[0].written = true; });
  expect_refused([](Kernel& kernel, LibraryMatmul&) { kernel.scalars = {KernelScalar::of(1.0)}; });
  expect_refused([](Kernel& kernel, LibraryMatmul&) { kernel.grid = 2; });
  expect_refused([](Kernel&, LibraryMatmul& call) { call.m = 0; });
  expect_refused([](Kernel&, LibraryMatmul& call) { call.n = 0; });
  expect_refused([](Kernel&, LibraryMatmul& call) { call.k = -1; });
  expect_refused([](Kernel&, LibraryMatmul& call) { call.batch = 0; });
  expect_refused([](Kernel&, LibraryMatmul& call) { call.b.line = 0; });
}

}  // namespace
}  // namespace sinter
