// std::thread::hardware_concurrency() ignores a container's CPU quota.
#include "src/base/processors.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <thread>

#include "src/base/cgroup.h"

namespace sinter {
namespace {

int cpus_in_affinity_mask() {
  // The mask may be larger than cpu_set_t on big machines.
  for (std::size_t cpus = 1024; cpus <= 65536; cpus *= 4) {
    cpu_set_t* set = CPU_ALLOC(cpus);
    if (!set) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(cpus);
    const int count = sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (count > 0) return count;
  }
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

int available_cpus() {
  int cpus = cpus_in_affinity_mask();
  if (const auto limit = cgroup_cpus()) cpus = std::min(cpus, static_cast<int>(std::ceil(*limit)));
  return std::max(cpus, 1);
}

}  // namespace sinter
