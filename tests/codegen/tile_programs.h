// Tile programs with their buffers, for tests that run one program several ways.
#pragma once

#include <string>
#include <vector>

#include "src/tile/builder.h"
#include "tests/support/graph_reference.h"

namespace sinter {

struct TestBuffer {
  DType dtype = DType::f32;
  testing_support::Numbers start;
};

struct TileCase {
  std::string name;
  tile::TileProgram program;
  std::vector<TestBuffer> buffers;
  std::vector<std::int64_t> scalars;
  std::int64_t grid = 1;
  double bound = 2e-6;  // relative error of floats; 0: bitwise equal
};

std::vector<TileCase> memory_cases();
std::vector<TileCase> aligned_row_cases();
std::vector<TileCase> value_cases();
std::vector<TileCase> reduction_cases();
std::vector<TileCase> loop_cases();
// Valid programs that no lowering generates today, but that authors of tile kernels may write.
std::vector<TileCase> author_cases();
std::vector<TileCase> author_order_cases();

}  // namespace sinter
