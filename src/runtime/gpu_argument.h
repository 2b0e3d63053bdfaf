// The argument of a generated GPU kernel, in 8-byte words: buffer addresses, scalars, the number of
// programs, and the inverses of scalars that a program's index is divided by: an integer division
// would be the longest part of computing a block's offsets.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "src/tile/interpreter.h"

namespace sinter {

// A launch passes at most 32,764 bytes by value; before CUDA 12.1 NVRTC rejects more than 4,096
// bytes.
inline constexpr std::size_t kMostGpuWords = 4095;
using GpuWords = std::array<std::uint64_t, kMostGpuWords>;

// Returns the number of words written. `divisors`: the scalars that have inverses (KernelSource).
std::size_t pack_gpu_words(std::span<const tile::BufferBinding> buffers,
                           std::span<const std::int64_t> scalars, std::int64_t programs,
                           std::span<const int> divisors, GpuWords& words);

// The multiplier and shift that quotient() in kernels/cuda/math.cuh uses.
std::uint64_t gpu_inverse(std::int64_t divisor, std::int64_t programs);

}  // namespace sinter
