// How fast this machine copies memory with all its threads: the limit of memory-bound kernels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/cpu/thread_pool.h"

namespace sinter {

// plain: what memcpy does, best where the target stays in the cache; streaming: stores that go past
// the cache, without reading the target first.
enum class CopyKind : std::uint8_t { plain, streaming };

// On all threads. Both ends are aligned to 64 bytes.
void parallel_copy(ThreadPool& threads, CopyKind kind, const void* from, void* to,
                   std::size_t bytes);
// On this thread alone.
void copy_here(CopyKind kind, const void* from, void* to, std::size_t bytes);

// Bytes a second, read plus written, of the best of several copies past the cache. In memory of its
// own, so that the device's pool neither counts nor keeps it.
double measure_copy_bandwidth(ThreadPool& threads);

}  // namespace sinter
