// Processor and memory of this machine: counts, sizes, and a fingerprint for cache keys. Starts no
// process.
#pragma once

#include <cstdint>
#include <string>

namespace sinter {

int native_vector_bytes();  // vector register width of generated code: 16, 32 or 64
bool libmvec_available();   // glibc's vector math
std::int64_t last_level_cache_bytes();
std::string cpu_model();  // "AMD EPYC 9454", or the architecture's name

// Changes if code built with -march=native on one machine might not run on another.
std::string cpu_fingerprint();

struct SystemMemory {
  std::uint64_t total = 0;
  std::uint64_t available = 0;  // approximate, without swapping
};
SystemMemory system_memory();  // including cgroup limits

}  // namespace sinter
