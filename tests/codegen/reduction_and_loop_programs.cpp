// Programs with reductions and loops.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

#include "tests/codegen/tile_case_maker.h"
#include "tests/codegen/tile_programs.h"

namespace sinter {

std::vector<TileCase> reduction_cases() {
  std::vector<TileCase> cases;
  for (auto [rows, cols] : {std::pair{1, 64}, {1, 517}, {8, 37}}) {
    Maker m("reductions_" + std::to_string(rows) + "x" + std::to_string(cols));
    const std::int64_t tile = 8 * ((cols + 7) / 8);
    const int x = m.in(DType::f32, rows * cols);
    const ValueId n = m.scalar(cols);
    const ValueId r = rows == 1 ? m.b.integer(0) : m.rows(rows);
    const ValueId c = m.cols(tile);
    const ValueId mask = m.below(c, n);
    const ValueId v = m.load(x, m.b.add(m.b.mul(r, n), c), mask);
    const double inf = std::numeric_limits<double>::infinity();
    const std::pair<ReduceKind, double> kinds[] = {{ReduceKind::sum, 0},
                                                   {ReduceKind::prod, 1},
                                                   {ReduceKind::max, -inf},
                                                   {ReduceKind::min, inf}};
    for (auto [kind, identity] : kinds) {
      const ValueId guarded = m.op(Op::where, {mask, v, m.real(identity)});
      m.b.store(m.out(DType::f32, rows), r, m.reduce(kind, guarded), kNoValue);
    }
    m.result.bound = 2e-5;
    cases.push_back(m.finish());
  }
  // Elements that are used again after their row is reduced: GPUs keep them packed.
  for (DType dtype : {DType::f16, DType::bf16})
    for (std::int64_t cols : {128, 50})
      for (ReduceKind kind : {ReduceKind::sum, ReduceKind::max, ReduceKind::min}) {
        Maker m(fmt::format("kept_{}_{}_{}", name_of(dtype), cols, name_of(kind)));
        Numbers values = numbers(8 * cols, dtype);
        if (kind != ReduceKind::sum) values[static_cast<std::size_t>(3 * cols)] = std::nan("");
        const int x = m.in(dtype, values);
        const int w = m.in(dtype, cols, 2);
        const ValueId n = m.scalar(cols);
        const ValueId r = m.rows(8);
        const ValueId c = m.cols(128);
        const ValueId mask = m.below(c, n);
        const ValueId at = m.b.add(m.b.mul(r, n), c);
        const ValueId v = m.load(x, at, mask);
        const ValueId whole = m.b.broadcast_to(m.reduce(kind, v), {8, 128});
        const ValueId weight = m.b.broadcast_to(m.load(w, c, mask), {8, 128});
        m.b.store(m.out(DType::f32, 8 * cols), at,
                  m.op(Op::mul, {m.op(Op::add, {v, whole}), weight}), mask);
        m.result.bound = 2e-5;
        cases.push_back(m.finish());
      }
  // Vector functions (sin, cos) between other operations, with and without a few huge angles.
  for (DType dtype : {DType::f32, DType::f16})
    for (const bool some_huge : {false, true}) {
      Maker m(fmt::format("angles_{}{}", name_of(dtype), some_huge ? "_huge" : ""));
      Numbers values = numbers(8 * 64, dtype);
      if (some_huge) {
        values[5] = 50000;
        values[100] = values[101] = -60000;
        values[200] = std::nan("");
        values[301] = std::numeric_limits<double>::infinity();
      }
      const int x = m.in(dtype, values);
      const ValueId at = m.b.add(m.b.mul(m.rows(8), m.b.integer(64)), m.cols(64));
      const ValueId v = m.load(x, at, kNoValue);
      const ValueId half = m.op(Op::mul, {v, m.real(0.5)});
      const ValueId sine = m.op(Op::sin, {half});
      const ValueId cosine = m.op(Op::cos, {m.op(Op::add, {v, sine})});
      const ValueId sum = m.b.broadcast_to(m.reduce(ReduceKind::sum, cosine), {8, 64});
      m.b.store(m.out(DType::f32, 8 * 64), at, cosine, kNoValue);
      m.b.store(m.out(DType::f32, 8 * 64), at,
                m.op(Op::add, {m.op(Op::mul, {cosine, sum}), m.op(Op::add, {half, sine})}),
                kNoValue);
      m.result.bound = 2e-5;
      cases.push_back(m.finish());
    }
  {  // all results have 16 bits: uses the hardware sine and cosine
    Maker m("narrow_angles");
    Numbers values = numbers(8 * 64, DType::f16);
    values[5] = 60000;
    values[100] = 47968;
    values[101] = -65504;
    values[200] = std::nan("");
    const int x = m.in(DType::f16, values);
    const ValueId at = m.b.add(m.b.mul(m.rows(8), m.b.integer(64)), m.cols(64));
    const ValueId v = m.load(x, at, kNoValue);
    m.b.store(m.out(DType::f16, 8 * 64), at, m.b.cast(m.op(Op::cos, {v}), DType::f16), kNoValue);
    m.b.store(m.out(DType::f16, 8 * 64), at,
              m.b.cast(m.op(Op::add, {m.op(Op::sin, {v}), v}), DType::f16), kNoValue);
    m.result.bound = 1e-3;
    cases.push_back(m.finish());
  }
  for (DType positions : {DType::i32, DType::i64}) {
    Maker m("positions_" + std::string(name_of(positions)));
    Numbers values = numbers(8 * 50, DType::f32);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::round(values[i] * 3);  // ties
    values[60] = values[70] = std::nan("");
    const int x = m.in(DType::f32, values);
    const ValueId n = m.scalar(50);
    const ValueId r = m.rows(8);
    const ValueId c = m.cols(64);
    const ValueId mask = m.below(c, n);
    const ValueId v = m.load(x, m.b.add(m.b.mul(r, n), c), mask);
    const double inf = std::numeric_limits<double>::infinity();
    for (ReduceKind kind : {ReduceKind::argmax, ReduceKind::argmin}) {
      const ValueId guarded =
          m.op(Op::where, {mask, v, m.real(kind == ReduceKind::argmax ? -inf : inf)});
      const auto found = m.b.reduce(kind, std::vector{guarded, m.b.cast(c, positions)});
      m.b.store(m.out(DType::f32, 8), r, found[0], kNoValue);
      m.b.store(m.out(positions, 8), r, found[1], kNoValue);
    }
    m.result.bound = 0;
    cases.push_back(m.finish());
  }
  {
    Maker m("reductions_of_integers");
    const int x = m.in(DType::i64, 100);
    const int z = m.in(DType::i32, 100);
    const int p = m.in(DType::boolean, 100);
    const ValueId c = m.cols(100);
    const ValueId zero = m.b.integer(0);
    m.b.store(m.out(DType::i64, 1), zero, m.reduce(ReduceKind::sum, m.load(x, c)), kNoValue);
    m.b.store(m.out(DType::i64, 1), zero, m.reduce(ReduceKind::min, m.load(x, c)), kNoValue);
    m.b.store(m.out(DType::i32, 1), zero, m.reduce(ReduceKind::max, m.load(z, c)), kNoValue);
    m.b.store(m.out(DType::boolean, 1), zero, m.reduce(ReduceKind::max, m.load(p, c)), kNoValue);
    m.b.store(m.out(DType::boolean, 1), zero, m.reduce(ReduceKind::min, m.load(p, c)), kNoValue);
    m.b.store(m.out(DType::i64, 1), zero, m.reduce(ReduceKind::sum, c), kNoValue);
    m.result.bound = 0;
    cases.push_back(m.finish());
  }
  {
    Maker m("softmax");  // exp is kept between the stages
    const int x = m.in(DType::f32, 6 * 45);
    const int y = m.out(DType::f32, 6 * 45);
    const ValueId n = m.scalar(45);
    const ValueId n_rows = m.scalar(6);
    const ValueId r = m.b.add(m.b.mul(m.b.program_id(), m.b.integer(4)), m.rows(4));
    const ValueId c = m.cols(64);
    const ValueId col_mask = m.below(c, n);
    const ValueId mask = m.op(Op::logical_and, {m.below(r, n_rows), col_mask});
    const ValueId at = m.b.add(m.b.mul(r, n), c);
    const ValueId v = m.load(x, at, mask);
    const double inf = std::numeric_limits<double>::infinity();
    const ValueId top = m.reduce(ReduceKind::max, m.op(Op::where, {col_mask, v, m.real(-inf)}));
    const ValueId power = m.op(Op::exp, {m.op(Op::sub, {v, top})});
    const ValueId total = m.reduce(ReduceKind::sum, m.op(Op::where, {col_mask, power, m.real(0)}));
    m.b.store(y, at, m.op(Op::div, {power, total}), mask);
    cases.push_back(m.finish(2));
  }
  {
    Maker m("sum_of_masked_load");  // no select: masked-off lanes are the load's zeros
    const int x = m.in(DType::f32, 4 * 45);
    const ValueId n = m.scalar(45);
    const ValueId r = m.rows(4);
    const ValueId c = m.cols(64);
    const ValueId v = m.load(x, m.b.add(m.b.mul(r, n), c), m.below(c, n), 0.5);
    m.b.store(m.out(DType::f32, 4), r, m.reduce(ReduceKind::sum, v), kNoValue);
    cases.push_back(m.finish());
  }
  return cases;
}

std::vector<TileCase> loop_cases() {
  std::vector<TileCase> cases;
  {
    Maker m("column_sums");
    const int x = m.in(DType::f32, 20 * 45);
    const int y = m.out(DType::f32, 45);
    const ValueId n = m.scalar(45);
    const ValueId c = m.cols(64);
    const ValueId mask = m.below(c, n);
    const ValueId zero = m.b.broadcast_to(m.real(0), {1, 64});
    const auto left = m.b.loop(m.b.integer(0), m.scalar(20), m.b.integer(1), std::vector{zero},
                               [&](ValueId i, std::span<const ValueId> carried) {
                                 const ValueId v = m.load(x, m.b.add(m.b.mul(i, n), c), mask);
                                 return std::vector{m.op(Op::add, {carried[0], v})};
                               });
    m.b.store(y, c, left[0], mask);
    cases.push_back(m.finish());
  }
  {
    Maker m("chunked_sum");
    const int x = m.in(DType::f32, 300);
    const ValueId n = m.scalar(300);
    const auto left =
        m.b.loop(m.b.integer(0), m.scalar(5), m.b.integer(1), std::vector{m.real(0)},
                 [&](ValueId i, std::span<const ValueId> carried) {
                   const ValueId at = m.b.add(m.b.mul(i, m.b.integer(64)), m.cols(64));
                   const ValueId mask = m.below(at, n);
                   const ValueId v = m.op(Op::where, {mask, m.load(x, at, mask), m.real(0)});
                   return std::vector{m.op(Op::add, {carried[0], m.reduce(ReduceKind::sum, v)})};
                 });
    m.b.store(m.out(DType::f32, 1), m.b.integer(0), left[0], kNoValue);
    m.result.bound = 2e-5;
    cases.push_back(m.finish());
  }
  {
    Maker m("no_trips");
    const int x = m.in(DType::f32, 40);
    const ValueId c = m.cols(40);
    const auto left =
        m.b.loop(m.b.integer(3), m.scalar(3), m.b.integer(1), std::vector{m.load(x, c), m.real(2)},
                 [&](ValueId, std::span<const ValueId> carried) {
                   return std::vector{m.op(Op::neg, {carried[0]}), m.real(1)};
                 });
    m.b.store(m.out(DType::f32, 40), c, m.op(Op::mul, {left[0], left[1]}), kNoValue);
    cases.push_back(m.finish());
  }
  {
    Maker m("nested");
    const int x = m.in(DType::f32, 12 * 32);
    const ValueId c = m.cols(32);
    const ValueId zero = m.b.broadcast_to(m.real(0), {1, 32});
    const ValueId two = m.scalar(2);
    const ValueId eight = m.scalar(8);
    const ValueId scale = m.op(Op::exp, {m.load(x, c)});  // used inside the loops: crosses blocks
    const auto left = m.b.loop(
        m.b.integer(0), m.scalar(3), m.b.integer(1), std::vector{zero},
        [&](ValueId i, std::span<const ValueId> outer) {
          return m.b.loop(
              m.b.integer(0), eight, m.b.integer(2), std::vector{outer[0]},
              [&](ValueId j, std::span<const ValueId> inner) {
                const ValueId row = m.b.add(m.b.mul(i, m.b.integer(4)), m.b.quotient(j, two));
                const ValueId v = m.load(x, m.b.add(m.b.mul(row, m.b.integer(32)), c));
                return std::vector{m.op(Op::add, {inner[0], m.op(Op::mul, {v, scale})})};
              });
        });
    m.b.store(m.out(DType::f32, 32), c, left[0], kNoValue);
    m.result.bound = 2e-5;
    cases.push_back(m.finish());
  }
  {
    Maker m("stores_inside_a_loop");
    const int x = m.in(DType::f32, 5 * 45);
    const int y = m.out(DType::f32, 5 * 45);
    const ValueId n = m.scalar(45);
    const ValueId c = m.cols(64);
    const ValueId mask = m.below(c, n);
    m.b.loop(
        m.b.integer(0), m.scalar(5), m.b.integer(1), {}, [&](ValueId i, std::span<const ValueId>) {
          const ValueId at = m.b.add(m.b.mul(i, n), c);
          const ValueId v = m.load(x, at, mask);
          const ValueId total = m.reduce(ReduceKind::sum, m.op(Op::where, {mask, v, m.real(0)}));
          m.b.store(y, at, m.op(Op::sub, {v, total}), mask);
          return std::vector<ValueId>{};
        });
    m.result.bound = 2e-5;
    cases.push_back(m.finish());
  }
  return cases;
}

}  // namespace sinter
