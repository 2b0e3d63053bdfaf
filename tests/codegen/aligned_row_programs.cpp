// Programs whose columns are cut where rows reach a multiple of the vector: each row begins and
// ends inside one.
#include <fmt/format.h>

#include "tests/codegen/tile_case_maker.h"
#include "tests/codegen/tile_programs.h"

namespace sinter {
namespace {

// Columns of a row of `width` elements from the multiple of `vector` below its first one on.
struct CutRow {
  ValueId cols;
  ValueId mask;
};
CutRow cut_row(Maker& m, ValueId first, ValueId width, std::int64_t tile, int vector) {
  const ValueId before = m.b.modulo(first, m.b.integer(vector));
  const ValueId cols = m.b.sub(m.cols(tile), before);
  const ValueId inside = m.op(Op::ge, {cols, m.b.integer(0)});
  return {cols, m.op(Op::logical_and, {inside, m.below(cols, width)})};
}

TileCase one_row(DType dtype, int vector) {
  Maker m("cut_row_" + std::string(name_of(dtype)));
  const int x = m.in(dtype, 7 * 83);
  const int shared = m.in(dtype, 83, 2);
  const int y = m.out(dtype, 7 * 83);
  const ValueId width = m.scalar(83);
  const ValueId first = m.b.mul(m.b.program_id(), width);
  const auto [cols, mask] = cut_row(m, first, width, 128, vector);
  const ValueId at = m.b.add(cols, first);
  m.b.store(y, at, m.op(Op::add, {m.load(x, at, mask), m.load(shared, cols, mask)}), mask);
  return m.finish(7);
}

// Rows of a tile, reduced; the last tile has rows beyond the end.
TileCase rows_minus_their_maximum(DType dtype) {
  Maker m("cut_rows_" + std::string(name_of(dtype)));
  const int x = m.in(dtype, 11 * 45);
  const int y = m.out(dtype, 11 * 45);
  const int top = m.out(DType::f32, 11);
  const ValueId width = m.scalar(45);
  const ValueId row = m.b.add(m.b.mul(m.b.program_id(), m.b.integer(8)), m.rows(8));
  const ValueId in_range = m.below(row, m.scalar(11));
  const ValueId first = m.b.mul(row, width);
  const auto [cols, in_row] = cut_row(m, first, width, 64, 8);
  const ValueId mask = m.op(Op::logical_and, {in_range, in_row});
  const ValueId value = m.b.load(x, m.b.add(cols, first), mask, kNoValue);
  const ValueId lowest = m.real(-3e38);
  const ValueId most = m.reduce(ReduceKind::max, m.op(Op::where, {in_row, value, lowest}));
  m.b.store(y, m.b.add(cols, first), m.op(Op::sub, {value, most}), mask);
  m.b.store(top, row, most, in_range);
  return m.finish(2);
}

// A second tensor whose rows begin elsewhere in a vector.
TileCase rows_of_two_pitches() {
  Maker m("cut_rows_of_two_pitches");
  const int x = m.in(DType::f32, 5 * 70);
  const int other = m.in(DType::f32, 5 * 75 + 3, 2);
  const int y = m.out(DType::f32, 5 * 70);
  const ValueId width = m.scalar(69);
  const ValueId first = m.b.mul(m.b.program_id(), m.scalar(70));
  const ValueId elsewhere = m.b.add(m.scalar(3), m.b.mul(m.b.program_id(), m.scalar(75)));
  const auto [cols, mask] = cut_row(m, first, width, 96, 4);
  const ValueId sum = m.op(Op::add, {m.load(x, m.b.add(cols, first), mask),
                                     m.load(other, m.b.add(cols, elsewhere), mask)});
  m.b.store(y, m.b.add(cols, first), sum, mask);
  return m.finish(5);
}

// A row in chunks, summed along the way.
TileCase chunks_of_a_row() {
  Maker m("cut_row_in_chunks");
  const int x = m.in(DType::f16, 3 * 201);
  const int y = m.out(DType::f32, 3);
  const ValueId width = m.scalar(201);
  const ValueId first = m.b.mul(m.b.program_id(), width);
  const ValueId before = m.b.modulo(first, m.b.integer(8));
  const auto sums =
      m.b.loop(m.b.integer(0), m.scalar(256), m.b.integer(64), std::vector{m.real(0)},
               [&](ValueId chunk, std::span<const ValueId> carried) {
                 const ValueId cols = m.b.sub(m.b.add(chunk, m.cols(64)), before);
                 const ValueId mask = m.op(
                     Op::logical_and, {m.op(Op::ge, {cols, m.b.integer(0)}), m.below(cols, width)});
                 const ValueId value = m.load(x, m.b.add(cols, first), mask);
                 const ValueId inside = m.op(Op::where, {mask, value, m.real(0)});
                 return std::vector{m.b.add(carried[0], m.reduce(ReduceKind::sum, inside))};
               });
  m.b.store(y, m.b.program_id(), sums[0], kNoValue);
  return m.finish(3);
}

// A second tensor that is contiguous along the rows. The tile's last rows and columns are masked.
TileCase transposed_beside_cut_rows(DType dtype, int vector, double other) {
  Maker m(fmt::format("cut_rows_beside_transposed_{}_{}", name_of(dtype), other));
  const int x = m.in(dtype, 27 * 83);
  const int turned = m.in(dtype, 83 * 29 + 1, 2);
  const int y = m.out(dtype, 27 * 83);
  const ValueId width = m.scalar(83);
  const ValueId row = m.b.add(m.b.mul(m.b.program_id(), m.b.integer(16)), m.rows(16));
  const ValueId first = m.b.mul(row, width);
  const auto [cols, in_row] = cut_row(m, first, width, 96, vector);
  const ValueId mask = m.op(Op::logical_and, {m.below(row, m.scalar(27)), in_row});
  const ValueId at = m.b.add(m.b.add(row, m.scalar(1)), m.b.mul(cols, m.scalar(29)));
  const ValueId sum = m.op(Op::add, {m.b.load(x, m.b.add(cols, first), mask, kNoValue),
                                     other == 0 ? m.b.load(turned, at, mask, kNoValue)
                                                : m.load(turned, at, mask, other)});
  m.b.store(y, m.b.add(cols, first), sum, mask);
  return m.finish(2);
}

// A mask of columns in the tile, not in memory.
TileCase transposed_with_a_mask_in_the_tile() {
  Maker m("cut_rows_beside_transposed_masked_in_the_tile");
  const int turned = m.in(DType::f32, 83 * 32, 2);
  const int y = m.out(DType::f32, 32 * 83);
  const ValueId width = m.scalar(83);
  const ValueId row = m.b.add(m.b.mul(m.b.program_id(), m.b.integer(16)), m.rows(16));
  const ValueId first = m.b.mul(row, width);
  const auto [cols, in_row] = cut_row(m, first, width, 96, 4);
  const ValueId mask = m.op(
      Op::logical_and, {m.op(Op::ge, {cols, m.b.integer(0)}), m.below(m.cols(96), m.scalar(70))});
  const ValueId at = m.b.add(row, m.b.mul(cols, m.scalar(32)));
  m.b.store(y, m.b.add(cols, first), m.load(turned, at, mask), in_row);
  return m.finish(2);
}

// Rows without gaps between them, which a block moves as one run if its threads take single
// elements; the last tile has rows beyond the end.
TileCase dense_rows(DType dtype, std::int64_t cols, std::int64_t start) {
  Maker m(fmt::format("dense_rows_{}_{}", name_of(dtype), cols));
  const std::int64_t rows = 150;
  const int x = m.in(dtype, rows * cols + start);
  const int y = m.out(dtype, rows * cols);
  const int sums = m.out(DType::f32, rows);
  const ValueId row = m.b.add(m.b.mul(m.b.program_id(), m.b.integer(128)), m.rows(128));
  const ValueId mask = m.below(row, m.scalar(rows));
  const ValueId at = m.b.add(m.b.mul(row, m.b.integer(cols)), m.cols(cols));
  const ValueId from = start == 0 ? at : m.b.add(m.scalar(start), at);
  const ValueId value = m.load(x, from, mask);
  const ValueId sum = m.reduce(ReduceKind::sum, value);
  m.b.store(y, at, m.op(Op::sub, {value, sum}), mask);
  m.b.store(sums, row, sum, mask);
  return m.finish(2);
}

}  // namespace

std::vector<TileCase> aligned_row_cases() {
  return {one_row(DType::f32, 4),
          one_row(DType::bf16, 8),
          one_row(DType::i64, 2),
          rows_minus_their_maximum(DType::f32),
          rows_minus_their_maximum(DType::f16),
          rows_of_two_pitches(),
          chunks_of_a_row(),
          transposed_beside_cut_rows(DType::f32, 4, 0),
          transposed_beside_cut_rows(DType::f16, 8, 0),
          transposed_beside_cut_rows(DType::bf16, 8, 5),
          transposed_beside_cut_rows(DType::i64, 2, 0),
          transposed_with_a_mask_in_the_tile(),
          dense_rows(DType::f32, 7, 0),
          dense_rows(DType::bf16, 5, 0),
          dense_rows(DType::bf16, 12, 3),
          dense_rows(DType::f32, 2, 1)};
}

}  // namespace sinter
