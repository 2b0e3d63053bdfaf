// TileProgram -> kernel: from the memory cache, else rendered and compiled, else interpreted.
// Library calls are prepared by their library. Thread-safe: threads that need the same kernel
// compile it once.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/runtime/device.h"

namespace sinter {

KernelPtr compile_kernel(Device& device, const tile::TileProgram& program);
// DeviceError if the body is a library call that the library refuses.
KernelPtr compile_kernel(Device& device, const KernelBody& body);
// From the memory cache, else prepared by the device's library. Refusals are not cached.
LibraryKernel library_kernel(Device& device, const LibraryMatmul& call);

// The rendered source of a body. A body without source (a library call) is printed.
std::string source_text(const Device& device, const KernelBody& body);

// Compiles several on all cores available to the process. Returns the kernels in order; throws the
// error of the first program that fails.
std::vector<KernelPtr> compile_kernels(Device& device, std::span<const KernelBody* const> bodies);

// Fills the device's memory cache in few compilations. Skips programs that do not compile;
// compile_kernel() reports them.
void compile_together(Device& device, std::span<const tile::TileProgram* const> programs);

}  // namespace sinter
