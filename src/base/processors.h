// Number of processors this process may use.
#pragma once

namespace sinter {

int available_cpus();  // allowed by the affinity mask and the cgroup, at least 1

}  // namespace sinter
