// CudaVectors: a thread's vectors of a tile as CUDA text: the loops over them, which of them lie
// inside the tile and under a mask, and how many elements one access takes.
// In: a program's values. Out: text for the loads and stores of a stage.
#pragma once

#include <string>
#include <vector>

#include "src/codegen/c_writer.h"
#include "src/codegen/cuda/values.h"

namespace sinter {

// The part of a mask that holds for whole vectors, and how many elements are on otherwise.
struct VectorMask {
  std::string where;  // empty: always
  std::string count;  // empty: all
};

class CudaVectors {
 public:
  CudaVectors(const CudaValues& values, CWriter& code)
      : values_(values), layout_(values.layout), code_(code) {}

  // A loop over vectors: `begin` is the column of their first element. Loops over rows stand
  // inside it, so that what all of them share is loaded once.
  void open_vectors(tile::TileShape shape) const;
  // A loop over a thread's rows of tiles of that height, or a block where it has but one.
  void open_rows(tile::TileShape shape) const;
  // A loop over a vector's elements: `col` is their column.
  void open_vector() const;

  // That a vector of the tile lies inside it; empty: it does.
  std::vector<std::string> inside(tile::TileShape shape) const;
  // `conditions` come first.
  VectorMask mask(tile::ValueId mask_id, std::vector<std::string> conditions) const;
  // Elements of one access.
  int pack_width(const tile::Instr& instr) const;

  static std::string all_of(const std::vector<std::string>& conditions);

 private:
  const CudaValues& values_;
  const tile::ThreadLayout& layout_;
  CWriter& code_;
};

}  // namespace sinter
