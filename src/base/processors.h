// How many processors this process may keep busy.
#pragma once

namespace sinter {

int available_cpus();  // what the affinity mask and the cgroup allow, at least 1

}  // namespace sinter
