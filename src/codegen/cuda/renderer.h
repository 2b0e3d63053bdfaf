// The CUDA dialect: a TileProgram becomes the text of a kernel that a GPU's threads run together.
// In: a program with its mapping. Out: CUDA C++ for NVRTC, or the same text with the headers that
// give its vocabulary a meaning on the CPU (kernels/simt), for the SIMT executor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/tile/access.h"
#include "src/tile/program.h"

namespace sinter {

enum class CudaMeaning : std::uint8_t {
  gpu,   // kernels/cuda only
  simt,  // kernels/simt/primitives.h in the place of kernels/cuda/primitives.cuh
};

struct CudaRenderOptions {
  CudaMeaning meaning = CudaMeaning::gpu;
  // Whether every buffer begins where CudaSource::alignments asks for. If not, vectors are read and
  // written element by element.
  bool aligned = true;
};

// The kernel takes one argument by value, an array of 8-byte words: the buffers' addresses, then
// the scalars (f64 by their bits), then the number of programs. It is launched with `threads` in a
// block and programs * cluster blocks along x, in clusters of `cluster`; one that fetches ahead
// with any number of clusters, best as many as run at once, and `fetch_bytes` of dynamic shared
// memory.
struct CudaSource {
  std::string text;
  std::string entry;          // an extern "C" name
  tile::Mapping mapping;      // as rendered: the program's, or the renderer's choice
  int words = 0;              // of the argument (cuda/argument.h)
  std::vector<int> divisors;  // scalars whose inverses are its last words
  int fetch_bytes = 0;
  bool contract = true;  // products may be contracted into the sums they are part of
  // By buffer: the power of two that its address is a multiple of, if the text is the aligned one.
  std::vector<std::uint8_t> alignments;
};

CudaSource render_cuda(const tile::TileProgram& program, const CudaRenderOptions& options);

// The most that an access asks of a buffer's address.
inline constexpr std::int64_t kCudaAlignment = tile::kPackBytes;

}  // namespace sinter
