// TileProgram -> C++ source for the host compiler, in the vocabulary of kernels/cpu.
#pragma once

#include <string>

#include "src/tile/program.h"

namespace sinter {

struct KernelSource {
  std::string text;
  std::string entry;              // the function's symbol
  std::size_t scratch_bytes = 0;  // a running program needs that much, 64-byte aligned
};

// The entry is  extern "C" void entry(const Binding* buffers, const long* scalars, long first, long
// last, char* scratch)  where Binding is {void* data; long elements;} (tile::BufferBinding) and
// programs first <= id < last are run. `vector_bytes` is the machine's vector register size: 16, 32
// or 64.
KernelSource render_cpu(const tile::TileProgram& program, int vector_bytes, bool has_libmvec);

}  // namespace sinter
