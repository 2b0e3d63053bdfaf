// IndexBounds: the smallest and the largest value that an index expression can have.
// In: a program whose scalars declare bounds (ScalarParam). A remainder by a constant is bounded,
// too.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "src/codegen/analysis/affine.h"
#include "src/tile/program.h"

namespace sinter {

class IndexBounds {
 public:
  IndexBounds(const tile::TileProgram& program, const IndexAnalysis& index);

  // Nothing: unknown.
  std::optional<std::int64_t> least(const Index& index) const { return bound(index, false); }
  std::optional<std::int64_t> most(const Index& index) const { return bound(index, true); }

 private:
  struct Range {
    std::optional<std::int64_t> least;
    std::optional<std::int64_t> most;
  };
  std::optional<std::int64_t> bound(const Index& index, bool upper) const;

  std::map<tile::ValueId, Range> ranges_;
};

}  // namespace sinter
