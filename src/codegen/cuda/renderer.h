// The CUDA dialect: renders a TileProgram as a kernel for the cooperating threads of a GPU block.
// In: a program with its mapping. Out: CUDA C++ for NVRTC, or the same text with headers that
// implement its functions on the CPU (kernels/simt), for the SIMT executor.
#pragma once

#include "src/codegen/kernel_source.h"
#include "src/tile/program.h"

namespace sinter {

// `dialect`: cuda or simt.
KernelSource render_cuda(const tile::TileProgram& program, Dialect dialect = Dialect::cuda);

}  // namespace sinter
