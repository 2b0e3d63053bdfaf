// Compiles several kernels in parallel, on as many host cores as the process may use. In: programs
// and a function that compiles one. Out: their kernels, in order; if any fails, the error of the
// first that failed.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "src/runtime/device.h"

namespace sinter {

using CompileOne = std::function<KernelPtr(const tile::TileProgram&)>;

// `compile` is called from several threads concurrently.
std::vector<KernelPtr> compile_all(std::span<const tile::TileProgram* const> programs,
                                   const CompileOne& compile);

}  // namespace sinter
