// The random set: cells drawn over cases, dtypes and shapes. In: a RandomSet, of which the seed is
// the essential part. Out: its cells, the same in every run and on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/suite/cases/case.h"

namespace sinter::suite {

inline constexpr std::int64_t kLongestSide = std::int64_t{1} << 20;
inline constexpr std::int64_t kLeastElements = std::int64_t{1} << 10;
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 28;
inline constexpr int kDefaultCells = 300;
inline constexpr std::uint64_t kLargestSeed = 0xffffffff;

struct RandomSet {
  std::uint64_t seed = 0;
  int cells = kDefaultCells;
  std::vector<std::string> cases;  // names
  std::vector<std::string> dtypes;
  // A cell above these is drawn again. They depend on the device; 0: not set yet.
  std::int64_t most_elements = 0;  // rows times columns
  std::int64_t most_bytes = 0;     // of inputs and outputs
};

// "seed 7 over softmax in f32, f16, up to 67108864 elements and 1073741824 bytes", or "none". What
// determines the cells, apart from their number: with more cells, the first ones stay the same.
std::string describe(const RandomSet* set);

struct RandomCell {
  const Case* what = nullptr;
  Shape2 shape;
  DType dtype = DType::f32;
};

struct RandomCells {
  std::vector<RandomCell> cells;
  // Cells whose first shapes were above the limits. On a larger machine these have other shapes,
  // all others are the same.
  int above_elements = 0;
  int above_bytes = 0;
};

// Draws each side log-uniformly from 1 to kLongestSide, within kLeastElements to kMostElements in
// all; every other cell has an odd number of columns. No cell appears twice. Every case accepts
// every number of rows and columns. UserError for unknown names, or if too few cells are within the
// limits.
RandomCells draw_cells(const RandomSet& set);

}  // namespace sinter::suite
