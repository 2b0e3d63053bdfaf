// Valid programs that no lowering generates today: each was once a limit or a bug of the renderer.
#include <bit>
#include <cmath>
#include <limits>

#include "tests/codegen/tile_case_maker.h"
#include "tests/codegen/tile_programs.h"

namespace sinter {

std::vector<TileCase> author_cases() {
  std::vector<TileCase> cases;
  {
    Maker m("casts_past_the_limits");
    const double inf = std::numeric_limits<double>::infinity();
    const int x = m.in(DType::f32, {std::nan(""), inf, -inf, 1e30, -1e30, 3e9, -3e9, 1.5});
    const ValueId at = m.cols(8);
    const ValueId v = m.load(x, at);
    m.b.store(m.out(DType::i64, 8), at, m.b.cast(v, DType::i64), kNoValue);
    m.b.store(m.out(DType::i32, 8), at, m.b.cast(v, DType::i32), kNoValue);
    m.b.store(m.out(DType::boolean, 8), at, m.b.cast(v, DType::boolean), kNoValue);
    m.result.bound = 0;
    cases.push_back(m.finish());
  }
  {
    Maker m("select_is_no_identity");  // masked-off lanes count as 5, not as 0
    const int x = m.in(DType::f32, 64);
    const ValueId c = m.cols(64);
    const ValueId v = m.op(Op::where, {m.below(c, m.scalar(40)), m.load(x, c), m.real(5)});
    m.b.store(m.out(DType::f32, 1), m.b.integer(0), m.reduce(ReduceKind::sum, v), kNoValue);
    m.result.bound = 2e-5;
    cases.push_back(m.finish());
  }
  {
    Maker m("loop_result_as_offset");
    const int x = m.in(DType::f32, 64);
    const auto left =
        m.b.loop(m.b.integer(0), m.scalar(4), m.b.integer(1), std::vector{m.b.integer(0)},
                 [&](ValueId i, std::span<const ValueId> carried) {
                   return std::vector{m.b.pointwise(Op::add, {carried[0], i})};
                 });
    const ValueId c = m.cols(32);
    m.b.store(m.out(DType::f32, 32), c, m.load(x, m.b.add(c, left[0])), kNoValue);
    cases.push_back(m.finish());
  }
  {
    Maker m("kept_tile_beyond_its_limit");  // reduced up to n, stored whole
    const int x = m.in(DType::f32, 64);
    const ValueId c = m.cols(64);
    const ValueId mask = m.below(c, m.scalar(40));
    const ValueId power = m.op(Op::exp, {m.load(x, c, mask, 1)});
    const ValueId total = m.reduce(ReduceKind::sum, m.op(Op::where, {mask, power, m.real(0)}));
    m.b.store(m.out(DType::f32, 64), c, m.op(Op::mul, {power, total}), kNoValue);
    m.result.bound = 2e-5;
    cases.push_back(m.finish());
  }
  {
    Maker m("row_results_beyond_their_limit");  // rows outside sum the load's fallback value
    const int x = m.in(DType::f32, 5 * 32);
    const ValueId r = m.rows(8);
    const ValueId c = m.cols(32);
    const ValueId v =
        m.load(x, m.b.add(m.b.mul(r, m.b.integer(32)), c), m.below(r, m.scalar(5)), 2);
    m.b.store(m.out(DType::f32, 8), r, m.reduce(ReduceKind::sum, v), kNoValue);
    m.result.bound = 2e-5;
    cases.push_back(m.finish());
  }
  {
    Maker m("columns_of_two_heights");
    const int x = m.in(DType::f32, 16);
    const ValueId low = m.rows(4);
    const ValueId high = m.rows(16);
    m.b.store(m.out(DType::f32, 4), low, m.op(Op::exp, {m.load(x, low)}), kNoValue);
    m.b.store(m.out(DType::f32, 16), high, m.op(Op::neg, {m.load(x, high)}), kNoValue);
    cases.push_back(m.finish());
  }
  {
    Maker m("tiles_of_two_widths");
    const int x = m.in(DType::f32, 64);
    const ValueId narrow = m.cols(24);
    const ValueId wide = m.cols(64);
    m.b.store(m.out(DType::f32, 24), narrow, m.op(Op::exp, {m.load(x, narrow)}), kNoValue);
    m.b.store(m.out(DType::f32, 64), wide, m.op(Op::neg, {m.load(x, wide)}), kNoValue);
    cases.push_back(m.finish());
  }
  {
    Maker m("loop_carries_a_column");  // row sums over chunks of columns
    const int x = m.in(DType::f32, 8 * 96);
    const ValueId r = m.rows(8);
    const ValueId start = m.b.broadcast_to(m.real(0), {8, 1});
    const auto left = m.b.loop(
        m.b.integer(0), m.scalar(96), m.b.integer(32), std::vector{start},
        [&](ValueId i, std::span<const ValueId> carried) {
          const ValueId at = m.b.add(m.b.mul(r, m.b.integer(96)), m.b.add(i, m.cols(32)));
          return std::vector{m.op(Op::add, {carried[0], m.reduce(ReduceKind::sum, m.load(x, at))})};
        });
    m.b.store(m.out(DType::f32, 8), r, left[0], kNoValue);
    m.result.bound = 2e-5;
    cases.push_back(m.finish());
  }
  {
    Maker m("loop_carries_rows_and_columns");  // the accumulator is a whole tile
    const int x = m.in(DType::f32, 3 * 8 * 32);
    const ValueId at = m.b.add(m.b.mul(m.rows(8), m.b.integer(32)), m.cols(32));
    const ValueId start = m.b.broadcast_to(m.real(0), {8, 32});
    const auto left = m.b.loop(m.b.integer(0), m.scalar(3), m.b.integer(1), std::vector{start},
                               [&](ValueId i, std::span<const ValueId> carried) {
                                 const ValueId v =
                                     m.load(x, m.b.add(at, m.b.mul(i, m.b.integer(256))));
                                 return std::vector{m.op(Op::add, {carried[0], v})};
                               });
    m.b.store(m.out(DType::f32, 8 * 32), at, left[0], kNoValue);
    cases.push_back(m.finish());
  }
  {
    Maker m("sum_of_a_transposed_masked_load");  // without a select
    const int x = m.in(DType::f32, 45 * 16);
    const ValueId r = m.rows(16);
    const ValueId c = m.cols(64);
    const ValueId v = m.load(x, m.b.add(r, m.b.mul(c, m.b.integer(16))), m.below(c, m.scalar(45)));
    m.b.store(m.out(DType::f32, 16), r, m.reduce(ReduceKind::sum, v), kNoValue);
    m.result.bound = 2e-5;
    cases.push_back(m.finish());
  }
  {
    Maker m("limit_beyond_i32");
    const int x = m.in(DType::f32, 64);
    const ValueId c = m.cols(64);
    const ValueId v = m.load(x, c, m.below(c, m.scalar(std::int64_t{1} << 32)), 3);
    m.b.store(m.out(DType::f32, 50), c, v, m.below(c, m.scalar(50)));
    cases.push_back(m.finish());
  }
  {
    Maker m("other_is_a_tile");
    const int x = m.in(DType::f32, 40);
    const ValueId c = m.cols(64);
    const ValueId other = m.b.cast(c, DType::f32);
    const ValueId v = m.b.load(x, c, m.below(c, m.scalar(40)), other);
    m.b.store(m.out(DType::f32, 64), c, v, kNoValue);
    cases.push_back(m.finish());
  }
  {
    Maker m("load_after_store");  // in place: the second stage must not see what the first wrote
    m.result.buffers.push_back(filled(DType::f32, 64));
    const int x = m.b.add_buffer("x", DType::f32, true);
    const ValueId c = m.cols(64);
    const ValueId v = m.load(x, c);
    m.b.store(x, c, m.op(Op::add, {v, m.real(1)}), kNoValue);
    const ValueId total = m.reduce(ReduceKind::sum, v);
    m.b.store(m.out(DType::f32, 64), c, m.op(Op::mul, {v, total}), kNoValue);
    m.result.bound = 2e-5;
    cases.push_back(m.finish());
  }
  {
    Maker m("loop_yields_an_index_after_a_loop");
    const ValueId c = m.cols(32);
    const ValueId n = m.scalar(3);
    const ValueId zero = m.b.integer(0);
    const ValueId one = m.b.integer(1);
    const ValueId start = m.b.broadcast_to(m.b.integer(7), {1, 32});
    const int y = m.out(DType::i64, 1);
    const auto left =
        m.b.loop(zero, n, one, std::vector{start}, [&](ValueId i, std::span<const ValueId>) {
          m.b.loop(zero, n, one, {}, [&](ValueId j, std::span<const ValueId>) {
            m.b.store(y, zero, j, kNoValue);
            return std::vector<ValueId>{};
          });
          return std::vector{m.b.pointwise(Op::add, {c, i})};
        });
    m.b.store(m.out(DType::i64, 32), c, left[0], kNoValue);
    m.result.bound = 0;
    cases.push_back(m.finish());
  }
  {
    Maker m("one_row_range");  // arange of one element is a scalar
    const int x = m.in(DType::f32, 64);
    const ValueId r = m.rows(1);
    const ValueId c = m.cols(64);
    const ValueId v = m.load(x, m.b.add(m.b.mul(r, m.scalar(64)), c));
    m.b.store(m.out(DType::f32, 1), r, m.reduce(ReduceKind::max, v), kNoValue);
    cases.push_back(m.finish());
  }
  {
    Maker m("division_by_a_literal");
    const int x = m.in(DType::f32, 64);
    const ValueId half = m.b.quotient(m.b.program_id(), m.b.integer(2));
    const ValueId rest = m.b.modulo(m.b.program_id(), m.b.integer(2));
    const ValueId c = m.b.add(
        m.b.add(m.b.mul(half, m.b.integer(32)), m.b.mul(rest, m.b.integer(16))), m.cols(16));
    m.b.store(m.out(DType::f32, 64), c, m.load(x, c), kNoValue);
    cases.push_back(m.finish(4));
  }
  {
    Maker m("loop_starts_from_two_kept_tiles");
    const int x = m.in(DType::f32, 40);
    const ValueId c = m.cols(40);
    const ValueId a = m.load(x, c);
    const ValueId d = m.op(Op::exp, {a});
    const auto left = m.b.loop(m.b.integer(0), m.scalar(3), m.b.integer(1), std::vector{a, d},
                               [&](ValueId, std::span<const ValueId> carried) {
                                 return std::vector{carried[1], carried[0]};
                               });
    m.b.store(m.out(DType::f32, 40), c, left[0], kNoValue);
    m.b.store(m.out(DType::f32, 40), c, left[1], kNoValue);
    cases.push_back(m.finish());
  }
  // Names used by the dialects and their headers, and C++ keywords, are valid parameter names.
  for (const char* word :
       {"n",       "r",         "c",    "i",       "k",       "v",       "v3",    "rows",   "cols",
        "program", "first",     "last", "scratch", "buffers", "scalars", "whole", "lanes",  "idx",
        "rank",    "arguments", "exp",  "load",    "f32",     "for",     "sn",    "element"}) {
    Maker m(std::string("parameters_called_") + word);
    const int x = m.in(DType::f32, 100);
    m.result.scalars = {70};
    const ValueId n = m.b.add_scalar(word, DType::i64);
    const ValueId at = m.b.add(m.b.mul(m.rows(4), m.b.integer(25)), m.cols(25));
    const ValueId mask = m.below(at, n);
    const ValueId power = m.op(Op::exp, {m.load(x, at, mask, 0)});
    m.result.buffers.push_back(blank(DType::f32, 4));
    const int out = m.b.add_buffer(std::string(word) + "_", DType::f32, true);
    m.b.store(out, m.rows(4), m.reduce(ReduceKind::sum, power), kNoValue);
    m.result.bound = 2e-5;
    cases.push_back(m.finish());
  }
  return cases;
}

}  // namespace sinter
