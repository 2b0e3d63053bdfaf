// Keeps the results if they fit but not together with the operands: the next kernel reads them.
// Otherwise keeps the operands: those that fit stay for the next reader, and reads are faster even
// if nothing fits. Data that is only reduced is evicted first, so that it does not evict other
// kernels' results, unless it is so large that this no longer matters. Measured on an H200 (60 MB
// of L2) with rows and tiles of 1 MB to 4 GB, with a cold cache, in chains of kernels, and between
// kernels of other programs.
#include "src/lower/gpu_caching.h"

namespace sinter {
namespace {

using tile::Caching;

// As fractions of the cache size.
constexpr double kResultsFit = 0.7;
constexpr double kReducedIsMuch = 0.5;
constexpr double kReducedIsTooMuch = 6;

}  // namespace

Caching gpu_caching(const GpuFacts& facts, bool loops) {
  if (loops && (facts.space.needs_rows_again || facts.space.reductions > 1))
    return Caching::operands;
  const auto cache = static_cast<double>(facts.machine.cache_bytes);
  const double all = static_cast<double>(facts.space.bytes) / cache;
  if (!facts.writes_elements())
    return all > kReducedIsMuch && all < kReducedIsTooMuch ? Caching::results : Caching::operands;
  const double results = static_cast<double>(facts.written_bytes()) / cache;
  return all > 1 && results < kResultsFit ? Caching::results : Caching::operands;
}

std::vector<Config> with_cachings(const GpuFacts& facts, std::vector<Config> configs, bool loops) {
  const std::size_t count = configs.size();
  for (std::size_t i = 0; i < count; ++i) {
    configs.push_back(configs[i]);  // Caching::any
    tiling_of(configs[i]).caching = gpu_caching(facts, loops);
  }
  return configs;
}

}  // namespace sinter
