// Memory copy speed with all threads: the limit for memory-bound kernels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/cpu/thread_pool.h"

namespace sinter {

// plain: like memcpy, best if the target stays in the cache; streaming: non-temporal stores that
// bypass the cache and do not read the target first.
enum class CopyKind : std::uint8_t { plain, streaming };

// On all threads. Both pointers are 64-byte aligned.
void parallel_copy(ThreadPool& threads, CopyKind kind, const void* from, void* to,
                   std::size_t bytes);
// On the calling thread.
void copy_here(CopyKind kind, const void* from, void* to, std::size_t bytes);

// Bytes per second, read plus written, for the best of several copies larger than the cache. Uses
// its own memory, so that the device's pool neither counts nor keeps it.
double measure_copy_bandwidth(ThreadPool& threads);

}  // namespace sinter
