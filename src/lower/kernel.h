// Kernel: a lowered group: the program it runs and what to bind to it.
#pragma once

#include <cstdint>
#include <vector>

#include "src/graph/graph.h"
#include "src/lower/config.h"
#include "src/tile/kernel_body.h"

namespace sinter {

struct KernelBuffer {
  NodeId node = -1;         // whose buffer (Placement::buffer)
  std::int64_t offset = 0;  // of element 0 as the program sees it
  bool written = false;
};

// A scalar whose value is given at each call.
struct KernelNumber {
  int scalar = 0;    // of Kernel::scalars, which has the traced call's value
  NodeId node = -1;  // with Op::number
};

struct Kernel {
  KernelBody body;
  std::vector<KernelBuffer> buffers;  // by the program's buffers, or in the library call's order
  std::vector<std::int64_t> scalars;  // by the program's scalars; f64 by their bits
  std::vector<KernelNumber> numbers;
  std::int64_t grid = 0;  // number of programs; 1 for a library call
  int passes = 1;         // most reads of one input by a program
  Config config;

  const tile::TileProgram& program() const { return std::get<tile::TileProgram>(body); }
  tile::TileProgram& program() { return std::get<tile::TileProgram>(body); }
  bool is_library_call() const { return std::holds_alternative<LibraryMatmul>(body); }
  const std::string& name() const { return name_of(body); }
};

}  // namespace sinter
