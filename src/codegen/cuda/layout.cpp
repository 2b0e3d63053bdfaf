// The renderer's own choice of a mapping is simple: one element at a time, 128 threads.
#include "src/codegen/cuda/layout.h"

#include <algorithm>
#include <bit>

#include "src/base/check.h"
#include "src/base/rounding.h"

namespace sinter {
namespace {

using tile::Mapping;
using tile::TileProgram;
using tile::TileShape;

constexpr int kThreads = 128;

Mapping chosen_mapping(const TileProgram& program) {
  std::int64_t widest = 1;
  for (const tile::Value& value : program.values) widest = std::max(widest, value.shape.cols);
  Mapping mapping;
  mapping.threads = kThreads;
  mapping.threads_per_row = static_cast<int>(
      std::min<std::uint64_t>(kThreads, std::bit_ceil(static_cast<std::uint64_t>(widest))));
  mapping.wide_index = program.mapping.wide_index;
  return mapping;
}

}  // namespace

CudaLayout::CudaLayout(const TileProgram& program)
    : mapping_(program.mapping.threads > 0 ? program.mapping : chosen_mapping(program)) {
  const auto is_power = [](int x) { return x > 0 && (x & (x - 1)) == 0; };
  SINTER_ASSERT(mapping_.threads % 32 == 0 && mapping_.threads <= 1024 &&
                    is_power(mapping_.threads_per_row) && is_power(mapping_.vector) &&
                    is_power(mapping_.cluster) && mapping_.threads % mapping_.threads_per_row == 0,
                "{}: {} threads, {} a row, vectors of {}, clusters of {}", program.name,
                mapping_.threads, mapping_.threads_per_row, mapping_.vector, mapping_.cluster);
  // A vector lies inside the tile or outside.
  for (const tile::Value& value : program.values)
    while (value.shape.cols > 1 && value.shape.cols % mapping_.vector != 0) mapping_.vector /= 2;
}

int CudaLayout::row_steps(TileShape shape) const {
  return static_cast<int>(ceil_div(shape.rows, thread_rows()));
}

int CudaLayout::col_steps(TileShape shape) const {
  const std::int64_t at_once = std::int64_t{mapping_.threads_per_row} * vector() * cluster();
  return static_cast<int>(ceil_div(shape.cols, at_once));
}

int CudaLayout::elements(TileShape shape) const {
  return row_steps(shape) * (shape.cols == 1 ? 1 : col_steps(shape) * vector());
}

bool CudaLayout::rows_exact(TileShape shape) const {
  return shape.rows == 1 || shape.rows % thread_rows() == 0;
}

bool CudaLayout::cols_exact(TileShape shape) const {
  return shape.cols == 1 ||
         shape.cols % (std::int64_t{mapping_.threads_per_row} * vector() * cluster()) == 0;
}

}  // namespace sinter
