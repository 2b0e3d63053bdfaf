// Short loops are unrolled, so that the arrays they index stay in registers.
#include "src/codegen/cuda/vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/tile/access.h"

namespace sinter {

using tile::TileShape;

namespace {

constexpr int kMostUnrolled = 128;  // elements per thread

std::string_view unroll(int steps) { return steps <= kMostUnrolled ? "SN_UNROLL " : ""; }

}  // namespace

void CudaVectors::open_vectors(TileShape shape) const {
  const int steps = layout_.col_steps(shape);
  if (steps > 1)
    code_.open("{}for (int k = 0; k < {}; ++k)", unroll(layout_.elements(shape)), steps);
  else
    code_.open();
  code_.line("const i32 begin = {};", flat_index_text({{"rank", layout_.cluster()},
                                                       {"k", steps},
                                                       {"thread_col", layout_.threads_per_row()},
                                                       {"", layout_.vector()}}));
}

void CudaVectors::open_rows(TileShape shape) const {
  const int steps = layout_.row_steps(shape);
  if (steps > 1) {
    code_.open("{}for (int r = 0; r < {}; ++r)", unroll(layout_.elements(shape)), steps);
    code_.line("const i32 row = {};",
               flat_index_text({{"r", steps}, {"thread_row", layout_.thread_rows()}}));
  } else {
    code_.open();
    if (shape.rows > 1) code_.line("const i32 row = thread_row;");
  }
}

void CudaVectors::open_vector() const {
  if (layout_.vector() > 1)
    code_.open("SN_UNROLL for (int v = 0; v < {}; ++v)", layout_.vector());
  else
    code_.open();
  code_.line("const i32 col = begin{};", layout_.vector() > 1 ? " + v" : "");
}

std::vector<std::string> CudaVectors::inside(TileShape shape) const {
  std::vector<std::string> conditions;
  if (!layout_.rows_exact(shape)) conditions.push_back(fmt::format("row < {}", shape.rows));
  if (!layout_.cols_exact(shape)) conditions.push_back(fmt::format("begin < {}", shape.cols));
  return conditions;
}

std::string CudaVectors::all_of(const std::vector<std::string>& conditions) {
  std::string text;
  for (const std::string& each : conditions) text += (text.empty() ? "" : " && ") + each;
  return text;
}

// Only the first of a thread's vectors can begin before the row does.
std::string CudaVectors::first_text(TileShape shape, const Index& first) const {
  const std::string text = values_.names.text(first) + " - begin";
  const std::int64_t step = std::int64_t{layout_.threads_per_row()} * layout_.vector();
  const auto most = values_.bounds.most(first);
  const bool is_folded = layout_.col_steps(shape) > 1 && most && *most <= step;
  return is_folded ? "k > 0 ? 0 : " + text : text;
}

// Vectors that end before the row does, whatever its length, need no count.
std::string CudaVectors::count_text(TileShape shape, const Index& limit) const {
  const std::string text = values_.names.text(limit) + " - begin";
  const int steps = layout_.col_steps(shape);
  const std::int64_t step = std::int64_t{layout_.threads_per_row()} * layout_.vector();
  const std::int64_t before = step * steps * (layout_.cluster() - 1);  // columns of other blocks
  const auto least = values_.bounds.least(limit);
  const std::int64_t whole = least ? std::min<std::int64_t>((*least - before) / step, steps) : 0;
  return steps > 1 && whole > 0 ? fmt::format("k < {} ? {} : {}", whole, layout_.vector(), text)
                                : text;
}

VectorMask CudaVectors::mask(tile::ValueId mask_id, std::vector<std::string> conditions) const {
  VectorMask result;
  if (mask_id != tile::kNoValue) {
    RangeMask mask = *values_.index.mask(mask_id);
    if (!mask.is_unlimited() && values_.divisibility.of(mask) < layout_.vector()) {
      const TileShape shape = values_.shape(mask_id);
      result.count =
          mask.col_limit ? count_text(shape, *mask.col_limit) : std::to_string(layout_.vector());
      if (mask.col_first) result.first = first_text(shape, *mask.col_first);
      mask.col_limit.reset();
      mask.col_first.reset();
    }
    const std::string condition = values_.condition(mask, "begin");
    if (!condition.empty()) conditions.push_back(condition);
  }
  result.where = all_of(conditions);
  return result;
}

int CudaVectors::pack_width(const tile::Instr& instr) const {
  const int element = static_cast<int>(size_of(values_.buffer(instr).dtype));
  return std::min({layout_.vector(), tile::kPackBytes / element, values_.offset_multiple(instr)});
}

int CudaVectors::load_width(const tile::Instr& load) const {
  const int element = static_cast<int>(size_of(values_.buffer(load).dtype));
  const int width = pack_width(load);
  const bool is_unaligned =
      2 * width * element < tile::kPackBytes && tile::fill_packs(layout_.vector(), element);
  return is_unaligned ? 1 : width;
}

}  // namespace sinter
