// Valid programs that no lowering generates today: order of memory accesses, loop-carried values
// and limits.
#include <cmath>
#include <limits>

#include "tests/codegen/tile_case_maker.h"
#include "tests/codegen/tile_programs.h"

namespace sinter {

namespace {

// A buffer that is read and written.
int in_place(Maker& m, std::int64_t count) {
  m.result.buffers.push_back(filled(DType::f32, count));
  return m.b.add_buffer("x" + std::to_string(m.result.buffers.size()), DType::f32, true);
}

TileCase shift_in_place() {
  Maker m("shift_in_place");  // everything is read before anything is written
  const int x = in_place(m, 65);
  const ValueId c = m.cols(64);
  m.b.store(x, m.b.add(c, m.b.integer(1)), m.load(x, c), kNoValue);
  return m.finish();
}

TileCase stores_that_overlap() {
  Maker m("stores_that_overlap");  // the last one wins: an element, then a tile, then a scalar
  const int y = m.out(DType::f32, 65);
  const ValueId c = m.cols(64);
  m.b.store(y, m.b.integer(3), m.real(1), kNoValue);
  m.b.store(y, m.b.add(c, m.b.integer(1)), m.b.broadcast_to(m.real(2), {1, 64}), kNoValue);
  m.b.store(y, c, m.b.broadcast_to(m.real(3), {1, 64}), kNoValue);
  m.b.store(y, m.b.integer(5), m.real(4), kNoValue);
  return m.finish();
}

TileCase loop_through_memory() {
  Maker m("loop_through_memory");  // each iteration reads what the previous one wrote
  const int x = in_place(m, 64);
  const ValueId c = m.cols(64);
  const ValueId before = m.load(x, c);
  m.b.loop(m.b.integer(0), m.scalar(3), m.b.integer(1), {}, [&](ValueId, std::span<const ValueId>) {
    const ValueId v = m.load(x, c);
    m.b.store(x, c, m.op(Op::add, {v, m.reduce(ReduceKind::max, v)}), kNoValue);
    return std::vector<ValueId>{};
  });
  m.b.store(m.out(DType::f32, 64), c, m.op(Op::sub, {m.load(x, c), before}), kNoValue);
  m.result.bound = 2e-5;
  return m.finish();
}

TileCase loop_carries_tiles_of_all_shapes() {
  Maker m("loop_carries_tiles_of_all_shapes");  // each updated once per iteration from old values
  const int x = m.in(DType::f32, 8 * 33);
  const ValueId r = m.rows(8);
  const ValueId c = m.cols(33);
  const ValueId at = m.b.add(m.b.mul(r, m.b.integer(33)), c);
  const std::vector<ValueId> start{m.load(x, at), m.load(x, c), m.load(x, r),
                                   m.load(x, m.b.integer(7)), m.load(x, m.cols(5))};
  const auto left =
      m.b.loop(m.b.integer(0), m.scalar(4), m.b.integer(1), start,
               [&](ValueId, std::span<const ValueId> old) {
                 const ValueId tile = m.op(Op::add, {m.op(Op::add, {old[0], old[1]}), old[2]});
                 const ValueId row = m.op(Op::sub, {old[1], old[3]});
                 const ValueId column = m.reduce(ReduceKind::max, old[0]);
                 const ValueId one = m.reduce(ReduceKind::max, old[1]);
                 return std::vector{tile, row, column, one, m.op(Op::neg, {old[4]})};
               });
  m.b.store(m.out(DType::f32, 8 * 33), at, left[0], kNoValue);
  m.b.store(m.out(DType::f32, 33), c, left[1], kNoValue);
  m.b.store(m.out(DType::f32, 8), r, left[2], kNoValue);
  m.b.store(m.out(DType::f32, 1), m.b.integer(0), left[3], kNoValue);
  m.b.store(m.out(DType::f32, 5), m.cols(5), left[4], kNoValue);
  m.result.bound = 2e-5;
  return m.finish();
}

TileCase carried_tile_beyond_its_limit() {
  Maker m("carried_tile_beyond_its_limit");  // added to up to n, stored whole
  const int x = m.in(DType::f32, 40);
  const ValueId c = m.cols(64);
  const ValueId mask = m.below(c, m.scalar(40));
  const auto left =
      m.b.loop(m.b.integer(0), m.scalar(3), m.b.integer(1),
               std::vector{m.b.broadcast_to(m.real(0), {1, 64})},
               [&](ValueId, std::span<const ValueId> carried) {
                 return std::vector{m.op(Op::add, {carried[0], m.load(x, c, mask, 2)})};
               });
  m.b.store(m.out(DType::f32, 64), c, left[0], kNoValue);
  return m.finish();
}

TileCase carried_tile_with_a_moving_limit() {
  Maker m("carried_tile_with_a_moving_limit");  // the limit shrinks with each iteration
  const int x = m.in(DType::f32, 64);
  const ValueId c = m.cols(64);
  const ValueId n = m.scalar(50);
  const int y = m.out(DType::f32, 64);
  const auto left =
      m.b.loop(m.b.integer(0), m.scalar(40), m.b.integer(13),
               std::vector{m.b.broadcast_to(m.real(1), {1, 64})},
               [&](ValueId i, std::span<const ValueId> carried) {
                 const ValueId mask = m.below(m.b.add(c, i), n);
                 const ValueId next = m.op(Op::add, {carried[0], m.load(x, c, mask, 2)});
                 m.b.store(y, c, next, mask);
                 return std::vector{next};
               });
  m.b.store(m.out(DType::f32, 64), c, left[0], m.below(c, n));
  return m.finish();
}

TileCase column_beyond_its_limit() {
  Maker m("column_beyond_its_limit");  // read up to n, used whole
  const int x = m.in(DType::f32, 5);
  const ValueId r = m.rows(8);
  const ValueId v = m.op(Op::exp, {m.load(x, r, m.below(r, m.scalar(5)), 2)});
  const ValueId at = m.b.add(m.b.mul(r, m.b.integer(20)), m.cols(20));
  m.b.store(m.out(DType::f32, 160), at, m.b.broadcast_to(v, {8, 20}), kNoValue);
  return m.finish();
}

TileCase transposed_tile_beyond_its_limit() {
  Maker m("transposed_tile_beyond_its_limit");  // 45 columns, 13 rows; kept and stored whole
  const int x = m.in(DType::f32, 45 * 16);
  const ValueId r = m.rows(16);
  const ValueId c = m.cols(50);
  const ValueId mask = m.op(Op::logical_and, {m.below(c, m.scalar(45)), m.below(r, m.scalar(13))});
  const ValueId v = m.load(x, m.b.add(r, m.b.mul(c, m.b.integer(16))), mask, 3);
  const ValueId total = m.reduce(ReduceKind::sum, v);
  const ValueId at = m.b.add(m.b.mul(r, m.b.integer(50)), c);
  m.b.store(m.out(DType::f32, 16 * 50), at, m.op(Op::mul, {v, total}), kNoValue);
  m.result.bound = 2e-5;
  return m.finish();
}

TileCase tiles_in_place_of_others() {
  Maker m("tiles_in_place_of_others");  // rows are not a multiple of the vector size
  const int x = m.in(DType::f32, 4 * 33);
  const ValueId at = m.b.add(m.b.mul(m.rows(4), m.b.integer(33)), m.cols(33));
  ValueId v = m.op(Op::sin, {m.load(x, at)});
  for (int i = 0; i < 3; ++i) {
    const ValueId most = m.reduce(ReduceKind::max, v);
    v = m.op(Op::exp, {m.op(Op::sin, {m.op(Op::sub, {v, most})})});
  }
  m.b.store(m.out(DType::f32, 4 * 33), at, v, kNoValue);
  m.result.bound = 2e-5;
  return m.finish();
}

TileCase other_by_data() {
  Maker m("other_by_data");  // mask, offsets and fallback value all come from tiles
  const int x = m.in(DType::f32, 64);
  const int y = m.in(DType::f32, 40, 2);
  const ValueId c = m.cols(40);
  const ValueId v = m.load(y, c);
  const ValueId where = m.b.modulo(m.op(Op::mul, {c, c}), m.b.integer(64));
  const ValueId mask = m.op(Op::lt, {v, m.real(0)});
  m.b.store(m.out(DType::f32, 40), c, m.b.load(x, where, mask, v), kNoValue);
  const ValueId r = m.rows(9);
  const ValueId other = m.b.cast(r, DType::f32);
  m.b.store(m.out(DType::f32, 9), r, m.b.load(x, r, m.below(r, m.scalar(4)), other), kNoValue);
  return m.finish();
}

TileCase f64_casts_past_the_limits() {
  Maker m("f64_casts_past_the_limits");
  const double inf = std::numeric_limits<double>::infinity();
  const int x = m.in(DType::f64, {std::nan(""), inf, -inf, 9223372036854775808.0, -1e19,
                                  2147483648.0, -2147483648.5, -3e9});
  const ValueId at = m.cols(8);
  const ValueId v = m.load(x, at);
  m.b.store(m.out(DType::i64, 8), at, m.b.cast(v, DType::i64), kNoValue);
  m.b.store(m.out(DType::i32, 8), at, m.b.cast(v, DType::i32), kNoValue);
  const int y = m.out(DType::i64, 8);
  const int z = m.out(DType::i32, 8);
  m.b.loop(m.b.integer(0), m.scalar(8), m.b.integer(1), {},
           [&](ValueId i, std::span<const ValueId>) {
             m.b.store(y, i, m.b.cast(m.load(x, i), DType::i64), kNoValue);
             m.b.store(z, i, m.b.cast(m.load(x, i), DType::i32), kNoValue);
             return std::vector<ValueId>{};
           });
  m.result.bound = 0;
  return m.finish();
}

}  // namespace

std::vector<TileCase> author_order_cases() {
  return {shift_in_place(),
          stores_that_overlap(),
          loop_through_memory(),
          loop_carries_tiles_of_all_shapes(),
          carried_tile_beyond_its_limit(),
          carried_tile_with_a_moving_limit(),
          column_beyond_its_limit(),
          transposed_tile_beyond_its_limit(),
          tiles_in_place_of_others(),
          other_by_data(),
          f64_casts_past_the_limits()};
}

}  // namespace sinter
