// Compiles several kernels at once, on as many of the host's cores as the process may use.
// In: programs and who compiles one. Out: their kernels, in order; the first program's error if any
// fails.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "src/runtime/device.h"

namespace sinter {

using CompileOne = std::function<KernelPtr(const tile::TileProgram&)>;

// `compile` is called from several threads at once.
std::vector<KernelPtr> compile_all(std::span<const tile::TileProgram* const> programs,
                                   const CompileOne& compile);

}  // namespace sinter
