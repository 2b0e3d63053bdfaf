// Rendering: a TileProgram becomes the source of a kernel in the target's dialect.
#pragma once

#include "src/codegen/kernel_source.h"
#include "src/tile/program.h"

namespace sinter {

KernelSource render(const tile::TileProgram& program, const RenderTarget& target);

}  // namespace sinter
