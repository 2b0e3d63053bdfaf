// Available processors: within the machine's number and the affinity mask.
#include "src/base/processors.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

#include "src/base/cgroup.h"

namespace sinter {
namespace {

TEST(Processors, AreWithinTheQuota) {
  EXPECT_GE(available_cpus(), 1);
  if (const auto quota = cgroup_cpus()) {
    EXPECT_LT(available_cpus(), *quota + 1);
  }
}

// In a separate thread: the mask is per thread.
TEST(Processors, AreWithinTheAffinityMask) {
  int cpus = 0;
  std::thread([&] {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(sched_getcpu(), &set);
    if (sched_setaffinity(0, sizeof(set), &set) == 0) cpus = available_cpus();
  }).join();
  EXPECT_EQ(cpus, 1);
}

}  // namespace
}  // namespace sinter
