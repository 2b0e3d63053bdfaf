// What the process's control group (a container, a batch system) lets it use. Version 1 and 2.
// No limit, or no control groups: nullopt.
#pragma once

#include <cstdint>
#include <optional>

namespace sinter {

std::optional<double> cgroup_cpus();  // e.g. 1.5

struct CgroupMemory {
  std::uint64_t limit = 0;
  std::uint64_t used = 0;  // without the page cache that can be dropped
};
std::optional<CgroupMemory> cgroup_memory();

}  // namespace sinter
