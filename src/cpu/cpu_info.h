// What this machine's processor is and how much memory there is.
// Out: counts, sizes, and a fingerprint for cache keys; nothing here starts a process.
#pragma once

#include <cstdint>
#include <string>

namespace sinter {

int native_vector_bytes();  // of the registers generated code uses: 16, 32 or 64
bool libmvec_available();   // glibc's vector math
std::int64_t last_level_cache_bytes();
std::string cpu_model();  // "AMD EPYC 9454", or the architecture's name

// Changes when code built with -march=native for one machine might not run on the other.
std::string cpu_fingerprint();

struct SystemMemory {
  std::uint64_t total = 0;
  std::uint64_t available = 0;  // without swapping, about
};
SystemMemory system_memory();  // the cgroup's limits included

}  // namespace sinter
