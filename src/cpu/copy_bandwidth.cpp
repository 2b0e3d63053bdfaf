// Non-temporal stores: a plain copy reads the destination before it overwrites it, which would make
// the limit look lower than what a streaming kernel reaches.
#include "src/cpu/copy_bandwidth.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace sinter {
namespace {

constexpr std::size_t kBytes = std::size_t{64} << 20;  // each of the two
constexpr std::size_t kStep = std::size_t{256} << 10;
constexpr int kRuns = 8;

void stream_copy(const char* from, char* to, std::size_t bytes) {
#if defined(__x86_64__)
  for (std::size_t i = 0; i < bytes; i += 64) {
    const auto* source = reinterpret_cast<const __m128i*>(from + i);
    auto* target = reinterpret_cast<__m128i*>(to + i);
    const __m128i a = _mm_load_si128(source);
    const __m128i b = _mm_load_si128(source + 1);
    const __m128i c = _mm_load_si128(source + 2);
    const __m128i d = _mm_load_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
  }
  _mm_sfence();
#else
  std::memcpy(to, from, bytes);
#endif
}

}  // namespace

double measure_copy_bandwidth(ThreadPool& threads, MemoryPool& pool) {
  const StoragePtr source = pool.allocate(kBytes);
  const StoragePtr target = pool.allocate(kBytes);
  auto* from = static_cast<char*>(source->data());
  auto* to = static_cast<char*>(target->data());
  std::memset(from, 1, kBytes);  // pages that were never written are all the same page of zeros
  std::memset(to, 1, kBytes);

  double best = 0;
  for (int run = 0; run < kRuns; ++run) {
    const auto start = std::chrono::steady_clock::now();
    threads.parallel_for(kBytes / kStep, 0, [&](std::int64_t first, std::int64_t last, char*) {
      const auto begin = static_cast<std::size_t>(first) * kStep;
      stream_copy(from + begin, to + begin, static_cast<std::size_t>(last - first) * kStep);
    });
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    best = std::max(best, 2.0 * static_cast<double>(kBytes) / seconds.count());
  }
  return best;
}

}  // namespace sinter
