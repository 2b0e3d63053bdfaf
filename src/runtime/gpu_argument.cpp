// Packing launch arguments, and the inverses of divisors.
#include "src/runtime/gpu_argument.h"

#include <bit>
#include <limits>

#include "src/base/check.h"

namespace sinter {

std::size_t pack_gpu_words(std::span<const tile::BufferBinding> buffers,
                           std::span<const std::int64_t> scalars, std::int64_t programs,
                           std::span<const int> divisors, GpuWords& words) {
  const std::size_t count = buffers.size() + scalars.size() + 1 + divisors.size();
  SINTER_ASSERT(count <= kMostGpuWords, "a kernel with {} arguments", count);
  std::uint64_t* out = words.data();
  for (const tile::BufferBinding& buffer : buffers)
    *out++ = reinterpret_cast<std::uintptr_t>(buffer.data);
  for (const std::int64_t scalar : scalars) *out++ = static_cast<std::uint64_t>(scalar);
  *out++ = static_cast<std::uint64_t>(programs);
  for (const int divisor : divisors)
    *out++ = gpu_inverse(scalars[static_cast<std::size_t>(divisor)], programs);
  return count;
}

// With 2^shift <= d < 2^(shift + 1) and m = floor(2^(32 + shift) / d) + 1, n / d is the integer
// part of n * m / 2^(32 + shift) for all n < 2^31: m * d exceeds 2^(32 + shift) by at most d, and
// n * d < 2^(32 + shift). m has 33 bits only for powers of two; it is then 2^32 + 1.
std::uint64_t gpu_inverse(std::int64_t divisor, std::int64_t programs) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  if (divisor <= 0 || divisor > kMost || programs > kMost) return kNone;
  const auto d = static_cast<std::uint64_t>(divisor);
  const int shift = std::bit_width(d) - 1;
  const std::uint64_t multiplier = (std::uint64_t{1} << (32 + shift)) / d + 1;
  return multiplier | static_cast<std::uint64_t>(shift) << 40;
}

}  // namespace sinter
