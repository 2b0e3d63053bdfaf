// Kernel: a lowered group: its body for compile_kernel(), and the arguments for a Launch. In: a
// group and a Config.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/graph/graph.h"
#include "src/lower/config.h"
#include "src/tile/kernel_body.h"

namespace sinter {

struct KernelBuffer {
  NodeId node = -1;         // owner of the buffer (Placement::buffer)
  std::int64_t offset = 0;  // in the buffer, of the program's element 0
  bool written = false;
};

// i64 or f64. A scalar that represents a number argument holds the traced call's value.
struct KernelScalar {
  DType dtype = DType::i64;
  std::int64_t bits = 0;
  NodeId number = -1;  // with Op::number: the value is set at each call

  static KernelScalar of(std::int64_t value) { return {DType::i64, value}; }
  static KernelScalar of(double value);
  bool is_given() const { return number >= 0; }
};

struct Kernel {
  KernelBody body;
  std::vector<KernelBuffer> buffers;  // in the order of the program or the library call
  std::vector<KernelScalar> scalars;  // in the program's order
  std::int64_t grid = 0;              // number of programs; 1 for a library call
  int passes = 1;                     // most times that a program reads the same input
  Config config;

  // Asserts that the body is a tile program (tile_program() asks whether it is).
  const tile::TileProgram& program() const { return std::get<tile::TileProgram>(body); }
  tile::TileProgram& program() { return std::get<tile::TileProgram>(body); }
  const std::string& name() const { return name_of(body); }
};

// The scalars as 64-bit words of a launch.
std::vector<std::int64_t> scalar_words(const Kernel& kernel);

// Throws InternalError if the arguments do not match the body's parameters.
void verify(const Kernel& kernel);
// The config, grid and arguments, one per line, without the body.
std::string to_string(const Kernel& kernel);

}  // namespace sinter
