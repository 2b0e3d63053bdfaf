// Uses integers, products and square roots only, whose results are the same everywhere. The
// standard's distributions and exp2() differ between libraries.
#include "src/suite/cases/random_set.h"

#include <fmt/ranges.h>

#include <cmath>
#include <numbers>
#include <set>

#include "src/base/check.h"

namespace sinter::suite {
namespace {

constexpr int kSideBits = 20;  // log2(kLongestSide)
constexpr int kFractionBits = 32;
constexpr int kMostDraws = 100'000;  // of one cell's shape
static_assert(kLongestSide == std::int64_t{1} << kSideBits);

// SplitMix64's finalizer.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// The random numbers of one cell. Cells have separate streams, so that drawing one again leaves the
// others alone.
class Stream {
 public:
  Stream(std::uint64_t seed, std::uint64_t cell) : state_(mixed(mixed(seed + 1) + cell)) {}

  // 0 to limit - 1. The bias is below limit / 2^64.
  std::uint64_t below(std::uint64_t limit) {
    state_ += 0x9e3779b97f4a7c15;
    return mixed(state_) % limit;
  }

 private:
  std::uint64_t state_;
};

// 2^(exponent / 2^kFractionBits)
double power_of_two(std::uint64_t exponent) {
  double power = std::ldexp(1.0, static_cast<int>(exponent >> kFractionBits));
  double root = std::numbers::sqrt2;
  for (std::uint64_t bit = std::uint64_t{1} << (kFractionBits - 1); bit; bit >>= 1) {
    if (exponent & bit) power *= root;
    root = std::sqrt(root);
  }
  return power;
}

std::int64_t draw_side(Stream& stream) {
  constexpr std::uint64_t kLargestExponent = std::uint64_t{kSideBits} << kFractionBits;
  return std::llround(power_of_two(stream.below(kLargestExponent + 1)));
}

// kLongestSide is even: both neighbours are within the bounds.
std::int64_t with_parity(std::int64_t cols, bool odd) {
  if (odd) return cols % 2 ? cols : cols - 1;
  return cols % 2 ? cols + 1 : cols;
}

bool has_drawn_size(const Shape2& shape) {
  return shape.numel() >= kLeastElements && shape.numel() <= kMostElements;
}

class Drawing {
 public:
  explicit Drawing(const RandomSet& set) : set_(set) {
    for (const std::string& name : set.cases) cases_.push_back(&find_case(name));
    for (const std::string& name : set.dtypes) dtypes_.push_back(parse_dtype(name));
    if (cases_.empty() || dtypes_.empty()) fail_user("suite", "no case or no type is given");
  }

  RandomCells run() {
    for (int i = 0; i < set_.cells; ++i) draw(i);
    return std::move(drawn_);
  }

 private:
  void draw(int index) {
    Stream stream(set_.seed, static_cast<std::uint64_t>(index));
    RandomCell cell;
    cell.what = cases_[stream.below(cases_.size())];
    cell.dtype = dtypes_[stream.below(dtypes_.size())];
    bool above_elements = false;
    bool above_bytes = false;
    for (int i = 0; i < kMostDraws; ++i) {
      const std::int64_t rows = draw_side(stream);
      cell.shape = {rows, with_parity(draw_side(stream), index % 2 == 1)};
      if (!has_drawn_size(cell.shape)) continue;
      const bool too_many = cell.shape.numel() > set_.most_elements;
      const bool too_large = bytes_min(*cell.what, cell.shape, cell.dtype) > set_.most_bytes;
      above_elements |= too_many;
      above_bytes |= !too_many && too_large;
      if (too_many || too_large || !titles_.insert(title_of(cell)).second) continue;
      drawn_.cells.push_back(cell);
      drawn_.above_elements += above_elements;
      drawn_.above_bytes += above_bytes;
      return;
    }
    fail_user("suite",
              "only {} of {} random cells were found: a cell has at least {} elements, and here at "
              "most {} with {} bytes in inputs and outputs",
              index, set_.cells, kLeastElements, set_.most_elements, set_.most_bytes);
  }

  static std::string title_of(const RandomCell& cell) {
    return fmt::format("{} {} {}", cell.what->name, to_string(cell.shape), name_of(cell.dtype));
  }

  const RandomSet& set_;
  std::vector<const Case*> cases_;
  std::vector<DType> dtypes_;
  std::set<std::string> titles_;
  RandomCells drawn_;
};

}  // namespace

std::string describe(const RandomSet* set) {
  if (!set) return "none";
  return fmt::format("seed {} over {} in {}, up to {} elements and {} bytes", set->seed,
                     fmt::join(set->cases, ", "), fmt::join(set->dtypes, ", "), set->most_elements,
                     set->most_bytes);
}

RandomCells draw_cells(const RandomSet& set) { return Drawing(set).run(); }

}  // namespace sinter::suite
