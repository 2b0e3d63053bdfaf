// Machine: the device properties that the heuristics use.
#pragma once

#include <cstdint>

namespace sinter {

enum class MachineKind : std::uint8_t { cpu, gpu };

// The library that computes matrix products. `refused`: it is there, but cannot compute a product
// of the program, so the program does not call it.
enum class MatmulLibrary : std::uint8_t { none, cublaslt, refused };

struct Machine {
  MachineKind kind = MachineKind::cpu;
  MatmulLibrary matmul_library = MatmulLibrary::none;
  std::int64_t cache_bytes = 32 << 20;  // last-level cache
  // GPUs only.
  int multiprocessors = 0;
  int largest_cluster = 1;  // most blocks in a cluster; 1: no clusters
  // Resources shared by the blocks on one multiprocessor. Data-centre GPUs of compute capability
  // 8.0 to 10.0 have this much, others less (1536 threads, 16 or 24 blocks).
  int threads_per_multiprocessor = 2048;
  int blocks_per_multiprocessor = 32;
  int registers_per_multiprocessor = 65536;  // 32 bits each
  std::int64_t shared_bytes_per_multiprocessor = 164 << 10;
};

}  // namespace sinter
