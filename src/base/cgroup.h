// CPU and memory limits of the process's control group (a container, a batch system), versions 1
// and 2. nullopt if there is no limit or no control group.
#pragma once

#include <cstdint>
#include <optional>

namespace sinter {

std::optional<double> cgroup_cpus();  // e.g. 1.5

struct CgroupMemory {
  std::uint64_t limit = 0;
  std::uint64_t used = 0;  // without reclaimable page cache
};
std::optional<CgroupMemory> cgroup_memory();

}  // namespace sinter
