// Dispatches on the dialect.
#include "src/codegen/render.h"

#include "src/codegen/cpu/renderer.h"
#include "src/codegen/cuda/renderer.h"

namespace sinter {

KernelSource render(const tile::TileProgram& program, const RenderTarget& target) {
  if (target.dialect == Dialect::cpu)
    return render_cpu(program, target.vector_bytes, target.has_libmvec);
  return render_cuda(program, target.dialect);
}

}  // namespace sinter
