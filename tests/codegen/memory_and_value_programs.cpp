// Programs that cover all ways to load and store, and all dtypes.
#include <bit>
#include <cmath>
#include <limits>

#include "tests/codegen/tile_case_maker.h"
#include "tests/codegen/tile_programs.h"

namespace sinter {

using tile::Caching;

std::vector<TileCase> memory_cases() {
  std::vector<TileCase> cases;
  {
    Maker m("prefix_mask");
    const int x = m.in(DType::f32, 150);
    const int y = m.out(DType::f32, 150);
    const ValueId at = m.block(64);
    const ValueId mask = m.below(at, m.scalar(150));
    m.b.store(y, at, m.op(Op::mul, {m.load(x, at, mask), m.real(3)}), mask);
    cases.push_back(m.finish(3));
  }
  {
    Maker m("rows_and_cols");
    const int x = m.in(DType::f32, 11 * 40);
    const int y = m.out(DType::f32, 11 * 37);
    const ValueId n_rows = m.scalar(11);
    const ValueId n_cols = m.scalar(37);
    const ValueId r = m.b.add(m.b.mul(m.b.program_id(), m.b.integer(8)), m.rows(8));
    const ValueId c = m.cols(48);
    const ValueId mask = m.op(Op::logical_and, {m.below(r, n_rows), m.below(c, n_cols)});
    const ValueId v = m.load(x, m.b.add(m.b.mul(r, m.scalar(40)), c), mask);
    m.b.store(y, m.b.add(m.b.mul(r, n_cols), c), m.op(Op::neg, {v}), mask);
    cases.push_back(m.finish(2));
  }
  {
    Maker m("mask_every_third");
    const int x = m.in(DType::f32, 70);
    const int y = m.out(DType::f32, 70);
    const ValueId at = m.cols(70);
    const ValueId third = m.op(Op::eq, {m.b.modulo(at, m.b.integer(3)), m.b.integer(1)});
    m.b.store(y, at, m.load(x, at, third, 5), kNoValue);
    cases.push_back(m.finish());
  }
  {
    Maker m("store_every_third");
    const int x = m.in(DType::f32, 70);
    const int y = m.out(DType::f32, 70);
    const ValueId at = m.cols(70);
    const ValueId third = m.op(Op::eq, {m.b.modulo(at, m.b.integer(3)), m.b.integer(1)});
    m.b.store(y, at, m.load(x, at), third);
    cases.push_back(m.finish());
  }
  {
    Maker m("suffix_mask");
    const int x = m.in(DType::f32, 64);
    const int y = m.out(DType::f32, 64);
    const ValueId at = m.cols(64);
    const ValueId late = m.op(Op::ge, {at, m.scalar(21)});
    m.b.store(y, at, m.load(x, at, late, 2), late);
    cases.push_back(m.finish());
  }
  {
    Maker m("diagonal_mask");  // causal
    const int x = m.in(DType::f32, 8 * 32);
    const int y = m.out(DType::f32, 8 * 32);
    const ValueId r = m.rows(8);
    const ValueId c = m.cols(32);
    const ValueId at = m.b.add(m.b.mul(r, m.b.integer(32)), c);
    const ValueId mask = m.op(Op::le, {c, r});
    m.b.store(y, at, m.load(x, at, mask, -1), kNoValue);
    cases.push_back(m.finish());
  }
  {
    Maker m("mask_from_memory");
    const int keep = m.in(DType::boolean, 45);
    const int x = m.in(DType::f32, 45);
    const int y = m.out(DType::f32, 45);
    const ValueId at = m.cols(48);
    const ValueId inside = m.below(at, m.scalar(45));
    const ValueId kept = m.load(keep, at, inside);
    m.b.store(y, at, m.load(x, at, kept, 9), inside);
    cases.push_back(m.finish());
  }
  {
    Maker m("two_limits");  // the load ends before the store does
    const int x = m.in(DType::f32, 30);
    const int y = m.out(DType::f32, 50);
    const ValueId at = m.cols(64);
    const ValueId v = m.load(x, at, m.below(at, m.scalar(30)), -4);
    m.b.store(y, at, v, m.below(at, m.scalar(50)));
    cases.push_back(m.finish());
  }
  {
    Maker m("gather");
    Numbers places;
    for (int i = 0; i < 50; ++i) places.push_back((i * 37) % 50);
    const int at = m.in(DType::i64, places);
    const int x = m.in(DType::f32, 50);
    const int y = m.out(DType::f32, 50);
    const ValueId c = m.cols(64);
    const ValueId mask = m.below(c, m.scalar(50));
    m.b.store(y, c, m.load(x, m.load(at, c, mask), mask, 1), mask);
    cases.push_back(m.finish());
  }
  {
    Maker m("gather_rows");  // an embedding: row numbers from memory
    const int at = m.in(DType::i64, {4, 0, 2, 2, 5, 1, 3, 0});
    const int table = m.in(DType::f32, 6 * 20);
    const int y = m.out(DType::f32, 8 * 20);
    const ValueId r = m.rows(8);
    const ValueId c = m.cols(20);
    const ValueId row = m.load(at, r);
    const ValueId v = m.load(table, m.b.add(m.b.mul(row, m.scalar(20)), c));
    m.b.store(y, m.b.add(m.b.mul(r, m.b.integer(20)), c), v, kNoValue);
    cases.push_back(m.finish());
  }
  {
    Maker m("scatter_backwards");
    const int x = m.in(DType::f32, 50);
    const int y = m.out(DType::f32, 50);
    const ValueId c = m.cols(64);
    const ValueId n = m.scalar(50);
    const ValueId mask = m.below(c, n);
    m.b.store(y, m.b.sub(m.b.sub(n, m.b.integer(1)), c), m.load(x, c, mask), mask);
    cases.push_back(m.finish());
  }
  {
    Maker m("strided");
    const int x = m.in(DType::f32, 3 * 50);
    const int y = m.out(DType::f32, 2 * 50);
    const ValueId c = m.cols(64);
    const ValueId mask = m.below(c, m.scalar(50));
    m.b.store(y, m.b.mul(c, m.scalar(2)), m.load(x, m.b.mul(c, m.scalar(3)), mask), mask);
    cases.push_back(m.finish());
  }
  for (DType dtype : {DType::f32, DType::f16, DType::f64}) {
    Maker m("transposed_" + std::string(name_of(dtype)));
    const int x = m.in(dtype, 45 * 30);
    const int y = m.out(dtype, 45 * 30);
    const ValueId n_rows = m.scalar(30);
    const ValueId n_cols = m.scalar(45);
    const ValueId r = m.b.add(m.b.mul(m.b.program_id(), m.b.integer(16)), m.rows(16));
    const ValueId c = m.cols(64);
    const ValueId mask = m.op(Op::logical_and, {m.below(r, n_rows), m.below(c, n_cols)});
    const ValueId v = m.load(x, m.b.add(r, m.b.mul(c, n_rows)), mask);
    m.b.store(y, m.b.add(m.b.mul(r, n_cols), c), m.op(Op::add, {v, v}), mask);
    cases.push_back(m.finish(2));
  }
  {
    Maker m("transposed_store");
    const int x = m.in(DType::f32, 16 * 20);
    const int y = m.out(DType::f32, 16 * 20);
    const ValueId r = m.rows(16);
    const ValueId c = m.cols(20);
    const ValueId v = m.load(x, m.b.add(m.b.mul(r, m.b.integer(20)), c));
    m.b.store(y, m.b.add(r, m.b.mul(c, m.b.integer(16))), v, kNoValue);
    cases.push_back(m.finish());
  }
  {
    Maker m("broadcast_loads");  // one element, one per row, one per column
    const int x = m.in(DType::f32, 40);
    const int y = m.out(DType::f32, 8 * 24);
    const ValueId r = m.rows(8);
    const ValueId c = m.cols(24);
    const ValueId sum =
        m.op(Op::add, {m.op(Op::mul, {m.load(x, r), m.load(x, c)}), m.load(x, m.b.integer(39))});
    m.b.store(y, m.b.add(m.b.mul(r, m.b.integer(24)), c), sum, kNoValue);
    cases.push_back(m.finish());
  }
  for (const Caching caching : {Caching::results, Caching::operands, Caching::nothing}) {
    Maker m(std::string("keeps_") + name_of(caching));
    const int x = m.in(DType::f32, 100);
    const int y = m.out(DType::f32, 100);
    const ValueId at = m.block(64);
    const ValueId mask = m.below(at, m.scalar(100));
    m.b.store(y, at, m.load(x, at, mask), mask);
    m.b.set_caching(caching);
    cases.push_back(m.finish(2));
  }
  for (const Caching caching : {Caching::results, Caching::operands}) {  // can be prefetched
    Maker m(std::string("whole_rows_keep_") + name_of(caching));
    const int x = m.in(DType::f32, 7 * 256);
    const int y = m.out(DType::f32, 7 * 256);
    const ValueId at =
        m.b.add(m.b.mul(m.b.program_id(), m.b.integer(256)), m.b.arange(Axis::cols, 256));
    const ValueId value = m.load(x, at);
    const ValueId sum = m.b.reduce(ReduceKind::sum, std::vector{value})[0];
    m.b.store(y, at, m.op(Op::mul, {value, sum}), kNoValue);
    m.b.set_caching(caching);
    cases.push_back(m.finish(7));
  }
  return cases;
}

std::vector<TileCase> value_cases() {
  std::vector<TileCase> cases;
  for (DType dtype : {DType::f16, DType::bf16, DType::f64, DType::i32, DType::i64}) {
    Maker m("arithmetic_" + std::string(name_of(dtype)));
    const int x = m.in(dtype, 53, 1);
    const int z = m.in(dtype, 53, 2);
    const int y = m.out(dtype, 53);
    const ValueId at = m.cols(64);
    const ValueId mask = m.below(at, m.scalar(53));
    const ValueId a = m.load(x, at, mask);
    const ValueId c = m.load(z, at, mask);
    const ValueId v = m.op(Op::maximum, {m.op(Op::sub, {m.op(Op::mul, {a, c}), a}), c});
    m.b.store(y, at, v, mask);
    if (!is_floating(dtype)) m.result.bound = 0;
    if (dtype == DType::bf16) m.result.bound = 1e-2;  // one unit in the last place
    if (dtype == DType::f16) m.result.bound = 1e-3;
    cases.push_back(m.finish());
  }
  for (DType dtype : {DType::i32, DType::i64}) {
    Maker m("division_" + std::string(name_of(dtype)));  // includes zero divisors
    const int x = m.in(dtype, 60, 1);
    const int z = m.in(dtype, 60, 2);
    const int quotient = m.out(dtype, 60);
    const int rest = m.out(dtype, 60);
    const ValueId at = m.cols(60);
    m.b.store(quotient, at, m.op(Op::floor_div, {m.load(x, at), m.load(z, at)}), kNoValue);
    m.b.store(rest, at, m.op(Op::remainder, {m.load(x, at), m.load(z, at)}), kNoValue);
    m.result.bound = 0;
    cases.push_back(m.finish());
  }
  {
    Maker m("bools");
    const int p = m.in(DType::boolean, 50, 1);
    const int q = m.in(DType::boolean, 50, 2);
    const int y = m.out(DType::boolean, 50);
    const int less = m.out(DType::boolean, 50);
    const ValueId at = m.cols(64);
    const ValueId mask = m.below(at, m.scalar(50));
    const ValueId a = m.load(p, at, mask);
    const ValueId c = m.load(q, at, mask);
    m.b.store(y, at,
              m.op(Op::logical_or, {m.op(Op::logical_not, {a}), m.op(Op::logical_xor, {a, c})}),
              mask);
    m.b.store(less, at, m.op(Op::lt, {a, c}), mask);
    m.result.bound = 0;
    cases.push_back(m.finish());
  }
  {
    Maker m("comparisons");
    const double nan = std::nan("");
    const int x = m.in(DType::f32, {1, 2, nan, 4, -0.0, 5, nan, 8, 9});
    const int z = m.in(DType::f32, {1, 3, 2, nan, 0.0, 4, nan, 8, -9});
    const ValueId at = m.cols(9);
    const ValueId a = m.load(x, at);
    const ValueId c = m.load(z, at);
    for (Op op : {Op::eq, Op::ne, Op::lt, Op::le, Op::gt, Op::ge})
      m.b.store(m.out(DType::boolean, 9), at, m.op(op, {a, c}), kNoValue);
    m.b.store(m.out(DType::f32, 9), at, m.op(Op::maximum, {a, c}), kNoValue);
    m.b.store(m.out(DType::f32, 9), at, m.op(Op::minimum, {a, c}), kNoValue);
    m.result.bound = 0;
    cases.push_back(m.finish());
  }
  {
    Maker m("casts_of_floats");
    const int x = m.in(DType::f32, 40);
    const ValueId at = m.cols(40);
    const ValueId v = m.op(Op::mul, {m.load(x, at), m.real(100)});
    for (DType to : {DType::i32, DType::i64, DType::boolean, DType::f64, DType::f16, DType::bf16})
      m.b.store(m.out(to, 40), at, m.b.cast(v, to), kNoValue);
    m.b.store(m.out(DType::f32, 40), at, m.b.cast(v, DType::f16), kNoValue);
    m.b.store(m.out(DType::f32, 40), at, m.b.cast(v, DType::bf16), kNoValue);
    m.result.bound = 0;
    cases.push_back(m.finish());
  }
  {
    Maker m("casts_of_integers");
    const int x = m.in(DType::i64, {0, 1, -1, 5, 4294967296.0 + 7, -2147483649.0, 1e15, 2});
    const ValueId at = m.cols(8);
    const ValueId v = m.load(x, at);
    for (DType to : {DType::i32, DType::boolean, DType::f64, DType::f32})
      m.b.store(m.out(to, 8), at, m.b.cast(v, to), kNoValue);
    m.result.bound = 0;
    cases.push_back(m.finish());
  }
  {
    Maker m("indices_as_data");
    const int at64 = m.out(DType::i64, 8 * 20);
    const int at32 = m.out(DType::i32, 8 * 20);
    const int mask = m.out(DType::boolean, 8 * 20);
    const ValueId at = m.b.add(m.b.mul(m.rows(8), m.b.integer(20)), m.cols(20));
    m.b.store(at64, at, m.b.add(m.b.mul(at, m.b.integer(3)), m.b.program_id()), kNoValue);
    m.b.store(at32, at, m.b.cast(at, DType::i32), kNoValue);
    m.b.store(mask, at, m.below(m.cols(20), m.scalar(13)), kNoValue);
    m.result.bound = 0;
    cases.push_back(m.finish());
  }
  {  // uses inverses if there are any
    Maker m("programs_divided");
    const std::vector<std::int64_t> divisors{1, 3, 8, 1000, -3, 0, 2};
    const int wholes = m.out(DType::i64, 40 * 7);
    const int rests = m.out(DType::i64, 40 * 7);
    const ValueId program = m.b.program_id();
    std::vector<ValueId> by;
    for (const std::int64_t divisor : divisors) by.push_back(m.scalar(divisor));
    for (std::size_t i = 0; i < 7; ++i) {
      const ValueId at =
          m.b.add(m.b.mul(program, m.b.integer(7)), m.b.integer(static_cast<std::int64_t>(i)));
      const tile::Builder::Divided divided = m.b.divide(program, by[i]);
      const ValueId again = m.b.quotient(divided.quotient, by.back());
      m.b.store(wholes, at, m.b.add(divided.quotient, m.b.mul(again, m.b.integer(100))), kNoValue);
      m.b.store(rests, at, divided.rest, kNoValue);
    }
    m.result.bound = 0;
    cases.push_back(m.finish(40));
  }
  {
    Maker m("constants");
    const double inf = std::numeric_limits<double>::infinity();
    const ValueId at = m.cols(5);
    for (double value : {inf, -inf, std::nan(""), -0.0, 0.1})
      m.b.store(m.out(DType::f32, 5), at, m.real(value), kNoValue);
    m.b.store(m.out(DType::i64, 5), at,
              m.b.add(m.cols(5), m.b.integer(std::numeric_limits<std::int64_t>::min())), kNoValue);
    m.b.store(m.out(DType::i32, 5), at, m.b.integer(-2147483648LL, DType::i32), kNoValue);
    m.b.store(m.out(DType::boolean, 5), at, m.b.integer(1, DType::boolean), kNoValue);
    m.result.bound = 0;
    cases.push_back(m.finish());
  }
  {
    Maker m("real_scalars");
    m.result.scalars.push_back(std::bit_cast<std::int64_t>(0.1));
    const ValueId factor = m.b.add_scalar("factor", DType::f64);
    const int x = m.in(DType::f32, 33);
    const ValueId at = m.cols(33);
    m.b.store(m.out(DType::f32, 33), at,
              m.op(Op::mul, {m.load(x, at), m.b.cast(factor, DType::f32)}), kNoValue);
    cases.push_back(m.finish());
  }
  return cases;
}

}  // namespace sinter
