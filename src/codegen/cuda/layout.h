// The layout of a program's tiles on the threads that a CUDA kernel is launched with.
#pragma once

#include "src/tile/program.h"
#include "src/tile/thread_layout.h"

namespace sinter {

// By the program's mapping, with vectors that divide every tile; without one, by the renderer's
// own choice.
tile::ThreadLayout cuda_layout(const tile::TileProgram& program);

}  // namespace sinter
