// A column whose rows begin at multiples of a pack is read in packs of its elements. Others are
// read in the aligned packs that contain at least one of their elements.
#include "src/codegen/cuda/transposed_tiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "src/base/rounding.h"
#include "src/tile/access.h"

namespace sinter {

using tile::Instr;
using tile::kNoValue;
using tile::TileShape;

namespace {

int element_bytes(const CudaValues& values, const Instr& load) {
  return static_cast<int>(size_of(values.buffer(load).dtype));
}

RowSkew skew_of(const CudaValues& values, const Instr& load) {
  return *values.index.row_skew(*values.index.affine(load.args[0]));
}

// Whether columns that are long enough for whole packs begin anywhere within one, or their packs do
// not divide among the threads.
bool is_uneven(const CudaValues& values, const Instr& load) {
  const int pack = tile::kPackBytes / element_bytes(values, load);
  const TileShape shape = values.shape(load.results[0]);
  const std::int64_t each = shape.rows * shape.cols / values.layout.threads();
  return skew_of(values, load).most > 0 ||
         (shape.rows >= pack && (values.offset_multiple(load, tile::Axis::rows) < pack ||
                                 (each > pack && each % pack != 0)));
}

// A column-major tile in shared memory, of values to compute with. Each lane of a warp writes
// `width` adjacent elements of a column, and reads as many of a row. Both are free of bank
// conflicts if the column pitch is odd and every 32 rows and columns are skewed by another half
// width.
struct EvenTile {
  EvenTile(const CudaValues& values, const Instr& load)
      : shape(values.shape(load.results[0])), threads(values.layout.threads()) {
    const std::int64_t each = shape.rows * shape.cols / threads;
    width = std::min<int>({tile::kPackBytes / element_bytes(values, load),
                           values.offset_multiple(load, tile::Axis::rows), static_cast<int>(each)});
    while (shape.rows % width != 0 || each % width != 0) width /= 2;
    skew = std::max(1, width / 2);
    pitch = (shape.rows + skew * ((shape.rows - 1) / 32)) | 1;
    elements = pitch * shape.cols + skew * ((shape.cols - 1) / 32);
  }

  // Opens a loop over a thread's accesses.
  void open(CWriter& code) const {
    code.open("SN_UNROLL for (int i = 0; i < {}; ++i)", shape.rows * shape.cols / threads / width);
    code.line("const int element = (i * {} + thread_index()) * {};", threads, width);
    code.line("const i32 row = element % {}, col = element / {};", shape.rows, shape.rows);
  }
  // Index of element (row, col).
  std::string index() const {
    return fmt::format("col * {} + row + (row / 32 + col / 32) * {}", pitch, skew);
  }

  TileShape shape;
  int threads;
  int width = 1;  // elements per access
  std::int64_t skew = 1;
  std::int64_t pitch = 1;
  std::int64_t elements = 0;
};

// A column-major tile in shared memory, of elements as they are in memory. Packs are written there
// as a whole, so a column has room for what they contain before and behind it. An odd pitch keeps
// the vectors of a row in different banks. Rows that are moved apart by a stride of 1 modulo 4 need
// another pitch for this than those of 3.
struct UnevenTile {
  UnevenTile(const CudaValues& values, const Instr& load)
      : rows(values.shape(load.results[0]).rows),
        pack(tile::kPackBytes / element_bytes(values, load)),
        skew(skew_of(values, load)),
        cols(values.shape(load.results[0]).cols + skew.most),
        packs(ceil_div(rows, pack) + 1),
        room(packs * pack + pack - 1),
        least_pitch(skew.most > 0 ? room + 3 - (room + 2) % 4 : room | 1),
        threads(values.layout.threads()),
        type(storage_type(values.buffer(load).dtype)) {}

  std::int64_t elements() const { return (least_pitch + (skew.most > 0 ? 2 : 0)) * cols; }
  // The distance of columns: for moved rows, the smallest number from the least one on that added
  // to an odd stride gives a multiple of 4.
  std::string pitch(const CudaValues& values) const {
    if (skew.most == 0) return std::to_string(least_pitch);
    const Index& stride =
        values.index.affine(values.facts.definition.at(skew.by)->args[0])->row_step;
    return fmt::format("({} - ((i32)({}) & 2))", least_pitch + 2, values.names.text(stride));
  }
  // Columns that the block reads at once, so that all packs of a thread have the same place in
  // their column. 0: that would leave many threads idle.
  std::int64_t cols_at_once() const {
    const std::int64_t count = threads / packs;
    return 8 * count * packs >= 7 * threads ? count : 0;
  }
  // Packs per thread.
  std::int64_t steps() const {
    return cols_at_once() > 0 ? ceil_div(cols, cols_at_once()) : ceil_div(packs * cols, threads);
  }

  // Opens a loop over a thread's packs, and a block around it.
  void open(CWriter& code) const {
    if (const std::int64_t at_once = cols_at_once(); at_once > 0) {
      code.open("if (thread_index() < {})", at_once * packs);
      code.line("const i32 pack = thread_index() % {}, first_column = thread_index() / {};", packs,
                packs);
      code.open("SN_UNROLL for (int i = 0; i < {}; ++i)", steps());
      code.line("const i32 column = first_column + i * {};", at_once);
      if (cols % at_once != 0) code.line("if (column >= {}) break;", cols);
    } else {
      code.open();
      code.open("SN_UNROLL for (int i = 0; i < {}; ++i)", steps());
      code.line("const i32 number = i * {} + thread_index();", threads);
      if (packs * cols % threads != 0) code.line("if (number >= {}) break;", packs * cols);
      code.line("const i32 pack = number % {}, column = number / {};", packs, packs);
    }
  }
  static void close(CWriter& code) {
    code.close();
    code.close();
  }
  // Index of element (row, col).
  std::string index(const CudaValues& values) const {
    const std::string column = skew.most == 0
                                   ? "col"
                                   : fmt::format("(col - (i32)({}) + {})",
                                                 values.names.text(Index::of(skew.by)), skew.most);
    return fmt::format("{} * {} + row + {}", column, pitch(values), pack - 1);
  }

  std::int64_t rows;
  std::int64_t pack;  // elements
  RowSkew skew;
  std::int64_t cols;   // with those that only some rows have, to the left of the others
  std::int64_t packs;  // of a column
  std::int64_t room;   // for a column's packs
  std::int64_t least_pitch;
  std::int64_t threads;
  std::string type;
};

// The mask of the columns in memory, which are not moved.
RangeMask mask_of(const CudaValues& values, const Instr& load) {
  if (load.args[1] == kNoValue) return {};
  RangeMask mask = *values.index.mask(load.args[1]);
  const RowSkew skew = skew_of(values, load);
  if (skew.most == 0) return mask;
  if (mask.col_limit) mask.col_limit = *mask.col_limit - Index::of(skew.by);
  if (mask.col_first) mask.col_first = *mask.col_first - Index::of(skew.by);
  return mask;
}

// Whether the mask is the same for all rows in memory.
bool is_of_columns(const CudaValues& values, const RangeMask& mask) {
  const auto has_atoms = [&](const std::optional<Index>& bound) {
    return bound && values.index.has_atoms(*bound);
  };
  return !has_atoms(mask.col_limit) && !has_atoms(mask.col_first) && !has_atoms(mask.row_limit);
}

}  // namespace

bool is_transposed_tile(const CudaValues& values, const Instr& load) {
  const TileShape shape = values.shape(load.results[0]);
  const tile::ThreadLayout& layout = values.layout;
  return is_transposed_load(values.program, values.index, load) && layout.cluster() == 1 &&
         is_of_columns(values, mask_of(values, load)) && !values.buffer(load).written &&
         layout.rows_exact(shape) && layout.cols_exact(shape) &&
         shape.rows * shape.cols % layout.threads() == 0;
}

std::int64_t transposed_tile_bytes(const CudaValues& values, const Instr& load) {
  if (is_uneven(values, load))
    return UnevenTile(values, load).elements() * element_bytes(values, load);
  return EvenTile(values, load).elements *
         static_cast<std::int64_t>(size_of(values.program[load.results[0]].dtype));
}

int transposed_tile_alignment(const CudaValues& values, const Instr& load) {
  if (load.code == tile::Code::load && is_transposed_tile(values, load) && is_uneven(values, load))
    return 1;
  return values.offset_multiple(load, tile::Axis::rows);
}

std::string CudaTransposedTiles::array(const Instr& load) const {
  return values_.name(load.results[0]) + "_tile";
}

void CudaTransposedTiles::render_load(const Instr& load, const std::string& reading,
                                      const std::string& other) const {
  if (is_uneven(values_, load)) return render_uneven_load(load, reading);
  const tile::ValueId id = load.results[0];
  const EvenTile tile(values_, load);
  code_.line("{} {}_parts[{}];", values_.type(id), values_.name(id),
             tile.shape.rows * tile.shape.cols / tile.threads);
  tile.open(code_);
  const RangeMask mask = mask_of(values_, load);
  const std::string in_column =
      values_.condition({std::nullopt, mask.col_limit, mask.col_first}, "col");
  const std::string count =
      mask.row_limit ? values_.names.text(*mask.row_limit) + " - row" : std::to_string(tile.width);
  code_.line("load_part<{0}, {0}, {1}>({2}_parts + i * {0}, {3}, {4}, {5}, {6});", tile.width,
             reading, values_.name(id), values_.buffer_name(load),
             values_.offset(*values_.index.affine(load.args[0]), "col"),
             in_column.empty() ? fmt::format("idx({})", count)
                               : fmt::format("{} ? idx({}) : 0", in_column, count),
             other);
  code_.close();
}

// Rows are counted from the pack's first element: the tile's first row is `first`.
void CudaTransposedTiles::render_uneven_load(const Instr& load, const std::string& reading) const {
  const UnevenTile tile(values_, load);
  const std::string& name = values_.name(load.results[0]);
  const std::string buffer = values_.buffer_name(load);
  Affine offsets = *values_.index.affine(load.args[0]);
  if (tile.skew.most > 0) offsets.base = offsets.base + Index::of(tile.skew.by) * offsets.col_step;
  const RangeMask mask = mask_of(values_, load);
  code_.line("Pack<u32, 4> {}_packs[{}];", name, tile.steps());
  code_.line("i32 {}_at[{}];", name, tile.steps());
  if (load.args[2] != kNoValue) code_.line("idx {}_left[{}];", name, tile.steps());
  tile.open(code_);
  code_.line("const i32 col = column{};",
             tile.skew.most > 0 ? fmt::format(" - {}", tile.skew.most) : "");
  code_.line("const idx start = {};", values_.names.text(offsets, "0", "col"));
  code_.line("const i32 first = elements_past_pack<{0}>({1}, start) - pack * {0};", tile.pack,
             buffer);
  const std::string in_column =
      values_.condition({std::nullopt, mask.col_limit, mask.col_first}, "col");
  const std::string limit =
      mask.row_limit ? values_.names.text(*mask.row_limit) : std::to_string(tile.rows);
  const std::string count = fmt::format("idx({}) + first", limit);
  code_.line("const idx count = {};",
             in_column.empty() ? count : fmt::format("{} ? {} : 0", in_column, count));
  const std::string in_tile =
      mask.row_limit ? fmt::format("lesser(count, {} + first)", tile.rows) : "count";
  code_.line("{}_packs[i] = read_words_range<{}, {}>({}, start - first, first, {});", name,
             tile.pack, reading, buffer, in_tile);
  if (load.args[2] != kNoValue) code_.line("{}_left[i] = count;", name);
  code_.line("{}_at[i] = column * {} + {} - first;", name, tile.pitch(values_), tile.pack - 1);
  UnevenTile::close(code_);
}

void CudaTransposedTiles::render_puts(const Instr& load, const std::string& other) const {
  const std::string& name = values_.name(load.results[0]);
  if (is_uneven(values_, load)) {
    const UnevenTile tile(values_, load);
    code_.line("SN_SHARED_RUN({}, {}, {});", tile.type, array(load), tile.elements());
    tile.open(code_);
    if (load.args[2] != kNoValue)
      code_.line("keep_first<{0}>({1}_packs[i], {1}_left[i], {2});", tile.type, name, other);
    code_.line("put_elements<{}>({}, {}_at[i], {}_packs[i]);", tile.type, array(load), name, name);
    UnevenTile::close(code_);
    return;
  }
  const EvenTile tile(values_, load);
  code_.line("SN_SHARED({}, {}, {});", values_.type(load.results[0]), array(load), tile.elements);
  tile.open(code_);
  code_.line("SN_UNROLL for (int w = 0; w < {0}; ++w) put({1}, {2} + w, {3}_parts[i * {0} + w]);",
             tile.width, array(load), tile.index(), name);
  code_.close();
}

std::string CudaTransposedTiles::element(const Instr& load) const {
  if (!is_uneven(values_, load))
    return fmt::format("get({}, {})", array(load), EvenTile(values_, load).index());
  return fmt::format("unpack_one(get({}, {}))", array(load),
                     UnevenTile(values_, load).index(values_));
}

}  // namespace sinter
