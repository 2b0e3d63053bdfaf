// The argument of a generated GPU kernel, in 8-byte words: its buffers' addresses, its scalars, how
// many programs there are, and the inverses of scalars that programs' numbers are divided by: a
// division is the longest part of finding out what a block has to do.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "src/tile/interpreter.h"

namespace sinter {

// A launch passes 32,764 bytes by value at most, 4,096 of them before CUDA 12.1, where NVRTC says
// so.
inline constexpr std::size_t kMostGpuWords = 4095;
using GpuWords = std::array<std::uint64_t, kMostGpuWords>;

// Returns the words written. `divisors`: which scalars have inverses (KernelSource).
std::size_t pack_gpu_words(std::span<const tile::BufferBinding> buffers,
                           std::span<const std::int64_t> scalars, std::int64_t programs,
                           std::span<const int> divisors, GpuWords& words);

// What quotient() in kernels/cuda/math.cuh multiplies by, and shifts.
std::uint64_t gpu_inverse(std::int64_t divisor, std::int64_t programs);

}  // namespace sinter
