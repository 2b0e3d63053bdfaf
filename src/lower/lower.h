// Lowering: a FusionGroup and a Config become a Kernel, a TileProgram with what to bind to it.
#pragma once

#include <cstdint>
#include <vector>

#include "src/lower/config.h"
#include "src/tile/program.h"

namespace sinter {

struct KernelBuffer {
  NodeId node = -1;         // whose buffer (Placement::buffer)
  std::int64_t offset = 0;  // of element 0 as the program sees it
};

struct Kernel {
  tile::TileProgram program;
  std::vector<KernelBuffer> buffers;  // by program.buffers
  std::vector<std::int64_t> scalars;  // by program.scalars; f64 by their bits
  std::int64_t grid = 0;              // number of programs
  int passes = 1;                     // how often a program reads an input of full level, at most
  Config config;
};

Kernel lower(const Plan& plan, int group, const IterationSpace& space, const Config& config);

}  // namespace sinter
