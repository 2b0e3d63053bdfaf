// The CUDA dialect.
#include "src/codegen/cuda_renderer.h"

#include "src/base/check.h"

namespace sinter {

CudaSource render_cuda(const tile::TileProgram& program, const CudaRenderOptions&) {
  SINTER_ASSERT(false, "no CUDA text for {} yet", program.name);
  return {};
}

}  // namespace sinter
