// Machine: what the heuristics know of the device a program is compiled for.
#pragma once

#include <cstdint>

namespace sinter {

enum class MachineKind : std::uint8_t { cpu, gpu };

struct Machine {
  MachineKind kind = MachineKind::cpu;
  std::int64_t cache_bytes = 32 << 20;  // the last-level cache
  // GPUs only.
  int multiprocessors = 0;
  int largest_cluster = 1;  // blocks that can share a row; 1: no clusters
};

}  // namespace sinter
