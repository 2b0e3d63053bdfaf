// The state of one GPU thread, shared by the parts of ClusterRun.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "src/simt/cluster_run.h"

namespace sinter {

inline constexpr int kWarpLanes = 32;
inline constexpr int kLargestExchange = 16;  // bytes

struct ClusterRun::ThreadState : sn::simt::Thread {
  ClusterRun* run = nullptr;
  std::unique_ptr<Fiber> fiber;
  State state = State::ready;
  int line = 0;  // of the wait
  // Its part in the cluster barrier.
  bool arrived = false;
  bool orders = false;
  int arrival_line = 0;
  std::uint32_t arrival_phase = 0;
  bool cluster_started = false;
  // Its part in a warp exchange (shuffle).
  int mask = 0;
  int bytes = 0;
  std::byte given[kLargestExchange];
  std::byte taken[kLargestExchange];
  SimtAsyncCopies copies;

  SimtPlace at(int its_line) const { return {rank, thread, its_line}; }
  SimtPlace at() const { return at(line); }
};

}  // namespace sinter
