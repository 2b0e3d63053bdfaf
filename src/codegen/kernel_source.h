// KernelSource: a rendered kernel: its text, and what a device needs to compile and launch it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/tile/program.h"

namespace sinter {

enum class Dialect : std::uint8_t {
  cpu,   // C++ over kernels/cpu, for the host's compiler
  cuda,  // CUDA C++ over kernels/cuda, for NVRTC
  simt,  // the CUDA dialect over kernels/simt, which runs it on the CPU
};

// What rendering depends on besides the program.
struct RenderTarget {
  Dialect dialect = Dialect::cpu;
  // CPU only.
  int vector_bytes = 64;  // of a vector register: 16, 32 or 64
  bool has_libmvec = true;
};

struct KernelSource {
  std::string name;   // for messages and profiles
  std::string entry;  // the function's symbol
  // The text in the order the compiler reads it: definitions, device headers, the kernel itself.
  std::string prologue;
  std::vector<std::string_view> headers;  // embedded in the library: they live forever
  std::string body;
  bool contract = true;  // products may be contracted into the sums they are part of

  // CPU: memory that a running program needs, 64-byte aligned.
  std::size_t scratch_bytes = 0;

  // GPUs. The kernel takes one argument by value, an array of 8-byte words: the buffers' addresses,
  // then the scalars (f64 by their bits), the number of programs, the inverses of `divisors`
  // (runtime/gpu_argument.h). It is launched with `threads` in a block and programs * cluster
  // blocks along x, in clusters of `cluster`; a persistent one with any number of clusters, best as
  // many as run at once, and `fetch_bytes` of dynamic shared memory.
  tile::Mapping mapping = {};  // as rendered: the program's, or the renderer's choice
  int words = 0;
  std::vector<int> divisors = {};  // scalars whose inverses are the last words
  int fetch_bytes = 0;
  // By buffer: the power of two that its address must be a multiple of. unaligned() has no demands.
  std::vector<std::uint8_t> alignments = {};

  std::string text() const;
};

// GPUs: the same kernel for buffers at any address: vectors are read and written element by
// element.
KernelSource unaligned(KernelSource source);

}  // namespace sinter
