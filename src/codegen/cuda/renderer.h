// The CUDA dialect: a TileProgram becomes the text of a kernel that a GPU's threads run together.
// In: a program with its mapping. Out: CUDA C++ for NVRTC, or the same text with the headers that
// give its vocabulary a meaning on the CPU (kernels/simt), for the SIMT executor.
#pragma once

#include "src/codegen/kernel_source.h"
#include "src/tile/program.h"

namespace sinter {

// `dialect`: cuda or simt.
KernelSource render_cuda(const tile::TileProgram& program, Dialect dialect = Dialect::cuda);

}  // namespace sinter
