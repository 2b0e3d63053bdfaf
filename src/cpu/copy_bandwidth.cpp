// Uses non-temporal stores: a plain copy reads the destination before overwriting it, so its limit
// would be lower than what a streaming kernel reaches.
#include "src/cpu/copy_bandwidth.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace sinter {
namespace {

constexpr std::size_t kBytes = std::size_t{64} << 20;  // per buffer
constexpr std::size_t kStep = std::size_t{4} << 10;
constexpr int kRuns = 8;

void stream_copy(const char* from, char* to, std::size_t bytes) {
#if defined(__x86_64__)
  const std::size_t whole = bytes / 64 * 64;
  for (std::size_t i = 0; i < whole; i += 64) {
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
  std::memcpy(to + whole, from + whole, bytes - whole);
#else
  std::memcpy(to, from, bytes);
#endif
}

struct FreePages {
  void operator()(char* data) const { std::free(data); }
};
using PageMemory = std::unique_ptr<char, FreePages>;

PageMemory allocate_pages() {
  auto* data = static_cast<char*>(std::aligned_alloc(kStep, kBytes));
  if (!data) throw std::bad_alloc();
  std::memset(data, 1, kBytes);  // pages that were never written all map to one zero page
  return PageMemory(data);
}

}  // namespace

void copy_here(CopyKind kind, const void* from, void* to, std::size_t bytes) {
  if (kind == CopyKind::streaming)
    stream_copy(static_cast<const char*>(from), static_cast<char*>(to), bytes);
  else
    std::memcpy(to, from, bytes);
}

void parallel_copy(ThreadPool& threads, CopyKind kind, const void* from, void* to,
                   std::size_t bytes) {
  const auto steps = static_cast<std::int64_t>((bytes + kStep - 1) / kStep);
  threads.parallel_for(steps, 0, [&](std::int64_t first, std::int64_t last, char*) {
    const std::size_t begin = static_cast<std::size_t>(first) * kStep;
    const std::size_t end = std::min(static_cast<std::size_t>(last) * kStep, bytes);
    copy_here(kind, static_cast<const char*>(from) + begin, static_cast<char*>(to) + begin,
              end - begin);
  });
}

double measure_copy_bandwidth(ThreadPool& threads) {
  const PageMemory source = allocate_pages();
  const PageMemory target = allocate_pages();

  double best = 0;
  for (int run = 0; run < kRuns; ++run) {
    const auto start = std::chrono::steady_clock::now();
    parallel_copy(threads, CopyKind::streaming, source.get(), target.get(), kBytes);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    best = std::max(best, 2.0 * static_cast<double>(kBytes) / seconds.count());
  }
  return best;
}

}  // namespace sinter
