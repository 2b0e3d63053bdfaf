// KernelSource: a rendered kernel: its text, and the data needed to compile and launch it.
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

// Parameters of rendering besides the program.
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
  std::vector<std::string_view> headers;  // embedded in the library, with static lifetime
  std::string body;
  bool contract = true;  // the compiler may contract products and sums into FMAs

  // CPU: scratch memory of a running program, 64-byte aligned.
  std::size_t scratch_bytes = 0;

  // GPUs. The kernel takes one argument by value, an array of 8-byte words: the buffers' addresses,
  // then the scalars (f64 as bits), the number of programs, and the inverses of `divisors`
  // (runtime/gpu_argument.h). It is launched with `threads` threads per block and
  // programs * cluster blocks along x, in clusters of `cluster`. A persistent kernel is launched
  // with any number of clusters, ideally as many as are resident at once, and `fetch_bytes` of
  // dynamic shared memory.
  tile::Mapping mapping = {};  // as rendered: the program's, or the renderer's choice
  int words = 0;
  std::vector<int> divisors = {};  // scalars whose inverses are the last words
  int fetch_bytes = 0;
  // Required alignment of each buffer's address, a power of two. unaligned() requires none.
  std::vector<std::uint8_t> alignments = {};

  std::string text() const;
};

// A comment with the launch parameters, then the text.
std::string to_string(const KernelSource& source);

// GPUs: the same kernel for buffers at any address, with vectors read and written element by
// element.
KernelSource unaligned(KernelSource source);

}  // namespace sinter
