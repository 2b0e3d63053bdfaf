// From a TileProgram to a kernel: the one in memory, else rendered and compiled, else interpreted.
// Thread-safe: threads that need the same kernel compile it once.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/runtime/device.h"

namespace sinter {

KernelPtr compile_kernel(Device& device, const tile::TileProgram& program);
// A library call is not compiled, but prepared.
KernelPtr compile_kernel(Device& device, const KernelBody& body);

// What the device compiles for a body: the rendered text; a body without one is printed.
std::string source_text(const Device& device, const KernelBody& body);

// Several at once, on all cores that the process may use. The kernels in order; the first program's
// error if any fails.
std::vector<KernelPtr> compile_kernels(Device& device, std::span<const KernelBody* const> bodies);

// Puts kernels into the device's memory, in few compilations. A program that does not compile is
// left for compile_kernel() to report.
void compile_together(Device& device, std::span<const tile::TileProgram* const> programs);

}  // namespace sinter
