// Matmul: each program computes a tile of the result with a loop over the summed axis, reusing its
// operands along the tile's rows and columns.
#include <algorithm>

#include "src/base/rounding.h"
#include "src/lower/cpu_tilings.h"
#include "src/lower/families.h"
#include "src/lower/gpu_facts.h"
#include "src/lower/rounds.h"
#include "src/lower/tiling_fields.h"
#include "src/tile/thread_layout.h"

namespace sinter {
namespace {

constexpr int kShortAxis = 8;  // elements: too few for the columns
constexpr int kGpuThreads = 256;

// The axes of a tile: the first operand varies along one, the second along the other.
struct TileAxes {
  int row = -1;
  int col = -1;
};

TileAxes tile_axes(const IterationSpace& space) {
  const Access& a = space.accesses[space.contraction->a];
  const Access& b = space.accesses[space.contraction->b];
  TileAxes axes;
  for (int axis : space.kept_axes()) {
    if (a.stride(axis) != 0 && b.stride(axis) == 0) axes.row = axis;
    if (b.stride(axis) != 0 && a.stride(axis) == 0) axes.col = axis;
  }
  return axes;
}

bool is_stored_along(const IterationSpace& space, int axis) {
  return std::any_of(space.accesses.begin(), space.accesses.end(), [&](const Access& access) {
    return access.write && access.stride(axis) == 1;
  });
}

// Makes the axis along which results are contiguous the columns, unless it is short.
TileAxes oriented(const IterationSpace& space, TileAxes axes) {
  const bool is_short = space.size(axes.col) < kShortAxis && space.size(axes.row) > kShortAxis;
  const bool is_across = is_stored_along(space, axes.row) && !is_stored_along(space, axes.col);
  if (is_short || is_across) std::swap(axes.row, axes.col);
  return axes;
}

// With one row or one column, a batch-invariant program sums a product like any other. -1: the
// result has one element.
int single_column(const IterationSpace& space) {
  const AxisList kept = space.kept_axes();
  return kept.empty() ? -1 : *std::max_element(kept.begin(), kept.end(), [&](int a, int b) {
    return space.size(a) < space.size(b);
  });
}

// 1 for no axis.
std::int64_t size_along(const IterationSpace& space, int axis) {
  return axis < 0 ? 1 : space.size(axis);
}

Tiling cpu_tiling(const IterationSpace& space, const TileAxes& axes) {
  constexpr std::int64_t kRows = 8;
  constexpr std::int64_t kCols = 128;
  Tiling tiling;
  tiling.row_axis = axes.row;
  tiling.col_axis = axes.col;
  if (axes.col < 0) return tiling;
  tiling.tile_rows = std::min(kRows, power_above(size_along(space, axes.row)));
  tiling.tile_cols = std::clamp<std::int64_t>(power_above(space.size(axes.col)), 16, kCols);
  return tiling;
}

struct TileSize {
  std::int64_t rows;
  std::int64_t cols;
};

// Each thread computes rows * cols / threads elements of the tile.
Tiling gpu_tiling(const GpuFacts& facts, const TileAxes& axes, const TileSize& size) {
  Tiling tiling;
  tiling.row_axis = axes.row;
  tiling.col_axis = axes.col;
  tile::Mapping& mapping = tiling.mapping;
  if (axes.col < 0) {
    mapping.threads = mapping.threads_per_row = tile::kWarpThreads;
    return tiling;
  }
  mapping.vector = std::min(4, facts.vector_along(axes.col));
  tiling.tile_cols = std::clamp<std::int64_t>(power_above(facts.size(axes.col)), 16, size.cols);
  tiling.tile_rows = std::min(size.rows, power_above(size_along(facts.space, axes.row)));
  mapping.threads_per_row =
      static_cast<int>(std::min<std::int64_t>(16, tiling.tile_cols / mapping.vector));
  mapping.threads = static_cast<int>(
      std::clamp<std::int64_t>(mapping.threads_per_row * tiling.tile_rows, 32, kGpuThreads));
  return tiling;
}

constexpr TileSize kSizes[] = {{64, 64}, {32, 64}, {32, 32}, {16, 32}, {128, 64}, {64, 128}};
constexpr int kBySize = 4;  // the best guess is one of the first four

// What the rules ask about a product.
struct ProductFacts {
  const GpuFacts& facts;
  TileAxes axes;

  Tiling tiling(int size) const { return gpu_tiling(facts, axes, kSizes[size]); }
  std::int64_t tiles(int size) const {
    std::int64_t count = 1;
    for (int axis : facts.space.kept_axes())
      if (axis != axes.row && axis != axes.col) count *= facts.size(axis);
    const Tiling each = tiling(size);
    return count * ceil_div(size_along(facts.space, axes.row), each.tile_rows) *
           ceil_div(size_along(facts.space, axes.col), each.tile_cols);
  }
  // The first size with a tile for every multiprocessor; kBySize if there is none.
  int largest_busy() const {
    int size = 0;
    while (size < kBySize && tiles(size) < facts.machine.multiprocessors) ++size;
    return size;
  }
};

constexpr Rule<ProductFacts, int> kProductRules[] = {
    {"a tile for every multiprocessor",
     [](const ProductFacts& f) { return f.largest_busy() < kBySize; },
     [](const ProductFacts& f) { return f.largest_busy(); },
     "judgement: the largest such tile reuses its operands most"},
    {"fewer tiles than multiprocessors", [](const ProductFacts&) { return true; },
     [](const ProductFacts&) { return kBySize - 1; },
     "judgement: the smallest tiles keep the most multiprocessors busy"},
};
constexpr char kProductPart[] = "tile of a product";

Offer gpu_offer(const ProductFacts& product, Wanted wanted) {
  const auto& rule = first_rule(kProductRules, product);
  const int best = rule.choose(product);
  Offer offer{{MatmulConfig{product.tiling(best)}}, "", {text_of(kProductPart, rule)}};
  if (wanted == Wanted::best) return offer;
  for (int size = 0; size < static_cast<int>(std::size(kSizes)); ++size)
    if (size != best) offer.configs.push_back(MatmulConfig{product.tiling(size)});
  return offer;
}

Offer offer(const IterationSpace& space, const Machine& machine, Wanted wanted) {
  if (!space.contraction) return refused("the group has no product of two tensors in memory");
  const TileAxes found = tile_axes(space);
  const bool is_whole = found.row >= 0 && found.col >= 0;
  if (!is_whole && !space.batch_invariant)
    return refused("no operand is repeated along an axis of the result");
  const TileAxes axes = is_whole ? oriented(space, found) : TileAxes{-1, single_column(space)};
  if (machine.kind == MachineKind::cpu) return {{MatmulConfig{cpu_tiling(space, axes)}}, "", {}};
  const GpuFacts facts(space, machine);
  return gpu_offer({facts, axes}, wanted);
}

Kernel lower_group(const Plan& plan, GroupId group, const IterationSpace& space,
                   const Config& config) {
  return lower_rounds(plan, group, space, tiling_of(config), false);
}

}  // namespace

void list_product_rules(std::vector<RuleText>& texts) {
  list_rules(kProductPart, kProductRules, texts);
}

Family matmul_family() {
  return {.name = "matmul",
          .offer = offer,
          .lower = lower_group,
          // Every element is summed in loop order, whatever the tile size.
          .same_bits = [](const Config&, const Config&) { return true; },
          .fields = tiling_fields(),
          .describe = describe_tiling};
}

}  // namespace sinter
