// The default mapping is simple: scalar accesses, 128 threads.
#include "src/codegen/cuda/layout.h"

#include <algorithm>
#include <bit>

#include "src/base/check.h"

namespace sinter {
namespace {

using tile::Mapping;
using tile::TileProgram;

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

tile::ThreadLayout cuda_layout(const TileProgram& program) {
  Mapping mapping = program.mapping.threads > 0 ? program.mapping : chosen_mapping(program);
  const auto is_power = [](int x) { return x > 0 && (x & (x - 1)) == 0; };
  SINTER_ASSERT(mapping.threads % tile::kWarpThreads == 0 &&
                    mapping.threads <= tile::kMostThreads && is_power(mapping.threads_per_row) &&
                    is_power(mapping.vector) && is_power(mapping.cluster) &&
                    mapping.threads % mapping.threads_per_row == 0,
                "{}: {} threads, {} a row, vectors of {}, clusters of {}", program.name,
                mapping.threads, mapping.threads_per_row, mapping.vector, mapping.cluster);
  // A vector must be entirely inside or outside the tile.
  for (const tile::Value& value : program.values)
    while (value.shape.cols > 1 && value.shape.cols % mapping.vector != 0) mapping.vector /= 2;
  return tile::ThreadLayout(mapping);
}

}  // namespace sinter
