// Renders a TileProgram as C++ for the host compiler, using the functions of kernels/cpu.
#pragma once

#include "src/codegen/kernel_source.h"
#include "src/tile/program.h"

namespace sinter {

// The entry is  extern "C" void entry(const Binding* buffers, const long* scalars, long first, long
// last, char* scratch)  where Binding is {void* data; long elements;} (tile::BufferBinding). It
// runs the programs first <= id < last. `vector_bytes` is the size of the machine's vector
// registers: 16, 32 or 64.
KernelSource render_cpu(const tile::TileProgram& program, int vector_bytes, bool has_libmvec);

}  // namespace sinter
