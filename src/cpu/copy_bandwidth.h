// How fast this machine copies memory with all its threads: the limit of memory-bound kernels.
#pragma once

#include "src/cpu/memory_pool.h"
#include "src/cpu/thread_pool.h"

namespace sinter {

// Bytes a second, read plus written, of the best of several copies past the cache.
double measure_copy_bandwidth(ThreadPool& threads, MemoryPool& pool);

}  // namespace sinter
