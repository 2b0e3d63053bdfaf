// The layout of a program's tiles on the threads that a CUDA kernel is launched with.
#pragma once

#include "src/tile/program.h"
#include "src/tile/thread_layout.h"

namespace sinter {

// Uses the program's mapping, with the vector width reduced until it divides every tile; a program
// without a mapping gets a default one.
tile::ThreadLayout cuda_layout(const tile::TileProgram& program);

}  // namespace sinter
