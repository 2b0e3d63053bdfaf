// The tile IR: what the builder infers, what verify() rejects, and the printed form.
#include "src/tile/program.h"

#include <gtest/gtest.h>
#include <sinter/error.h>

#include <functional>
#include <ostream>

#include "src/tile/builder.h"

namespace sinter::tile {
namespace {

// y[i] = sum over chunks of exp(x), and the stored chunk: every kind of instruction.
struct Sample {
  Builder b{"sample"};
  int x = b.add_buffer("x", DType::f16, false);
  int y = b.add_buffer("y", DType::f32, true);
  ValueId n = b.add_scalar("n", DType::i64);
  ValueId scale = b.add_scalar("scale", DType::f64);
  // One call per line: the order of instructions must not depend on C++ argument evaluation.
  ValueId id = b.program_id();
  ValueId block = b.integer(64);
  ValueId start = b.mul(id, block);
  ValueId cols = b.add(start, b.arange(Axis::cols, 16));
  ValueId rows = b.arange(Axis::rows, 4);
  ValueId offsets = b.add(cols, b.mul(rows, n));
  ValueId mask = b.pointwise(Op::lt, {cols, n});
  ValueId other = b.real(0, DType::f32);
  ValueId loaded = b.load(x, offsets, mask, other);
  ValueId factor = b.cast(scale, DType::f32);
  ValueId scaled = b.pointwise(Op::mul, {loaded, factor});
  ValueId zero = b.broadcast_to(b.real(0, DType::f32), {1, 16});
  ValueId first = b.integer(0);
  ValueId step = b.integer(1);
  std::vector<ValueId> left =
      b.loop(first, n, step, std::vector{zero}, [&](ValueId, std::span<const ValueId> carried) {
        return std::vector{b.pointwise(Op::add, {carried[0], factor})};
      });
  std::vector<ValueId> sums = b.reduce(ReduceKind::sum, std::vector{scaled});

  Sample() { b.store(y, offsets, b.pointwise(Op::add, {scaled, left[0]}), mask); }
};

TEST(BuilderTest, ShapesAndDtypesFollowFromTheArguments) {
  Sample s;
  EXPECT_EQ(s.b[s.start].shape, (TileShape{1, 1}));
  EXPECT_EQ(s.b[s.cols].shape, (TileShape{1, 16}));
  EXPECT_EQ(s.b[s.rows].shape, (TileShape{4, 1}));
  EXPECT_EQ(s.b[s.offsets].shape, (TileShape{4, 16}));
  EXPECT_EQ(s.b[s.offsets].dtype, DType::i64);
  EXPECT_EQ(s.b[s.mask].dtype, DType::boolean);
  EXPECT_EQ(s.b[s.mask].shape, (TileShape{1, 16}));
  EXPECT_EQ(s.b[s.loaded].dtype, DType::f32) << "f16 exists in buffers only";
  EXPECT_EQ(s.b[s.loaded].shape, (TileShape{4, 16}));
  EXPECT_EQ(s.b[s.sums[0]].shape, (TileShape{4, 1}));
  EXPECT_EQ(s.b[s.left[0]].shape, (TileShape{1, 16}));
  EXPECT_NO_THROW(verify(s.b.program()));
}

TEST(BuilderTest, AMaskCanBeLargerThanItsOffsets) {
  Builder b("k");
  const int x = b.add_buffer("x", DType::f32, false);
  const ValueId mask = b.pointwise(Op::lt, {b.arange(Axis::rows, 4), b.arange(Axis::cols, 8)});
  const ValueId loaded = b.load(x, b.integer(3), mask, b.real(1, DType::f32));
  EXPECT_EQ(b[loaded].shape, (TileShape{4, 8}));
  EXPECT_NO_THROW(verify(b.program()));
}

TEST(BuilderTest, NeutralIndexArithmeticCostsNothing) {
  Builder b("k");
  const ValueId i = b.program_id();
  const ValueId zero = b.integer(0);
  const ValueId one = b.integer(1);
  EXPECT_EQ(b.add(i, zero), i);
  EXPECT_EQ(b.add(zero, i), i);
  EXPECT_EQ(b.mul(i, one), i);
  EXPECT_EQ(b.mul(one, i), i);
  EXPECT_EQ(b.mul(i, zero), zero);
  EXPECT_EQ(b.mul(zero, i), zero);
  EXPECT_NE(b.add(i, one), i);
}

TEST(BuilderTest, CastingToTheSameTypeCostsNothingButRoundingDoes) {
  Builder b("k");
  const ValueId value = b.real(1, DType::f32);
  EXPECT_EQ(b.cast(value, DType::f32), value);
  const ValueId rounded = b.cast(value, DType::bf16);
  EXPECT_NE(rounded, value);
  EXPECT_EQ(b[rounded].dtype, DType::f32);
}

TEST(BuilderTest, ParametersBelongToTheOutermostBlock) {
  Builder b("k");
  const ValueId n = b.add_scalar("n", DType::i64);
  EXPECT_THROW(b.loop(b.integer(0), n, b.integer(1), {},
                      [&](ValueId, std::span<const ValueId>) {
                        b.add_scalar("late", DType::i64);
                        return std::vector<ValueId>{};
                      }),
               InternalError);
}

TEST(TileShapeTest, Broadcast) {
  EXPECT_EQ(broadcast({1, 8}, {4, 1}), (TileShape{4, 8}));
  EXPECT_EQ(broadcast({4, 8}, {4, 8}), (TileShape{4, 8}));
  EXPECT_EQ(broadcast({3, 8}, {4, 8}), (TileShape{0, 8})) << "does not";
}

// --- verify() ---

// The first instruction with that code, in the outermost block or a loop.
Instr& find(std::vector<Instr>& body, Code code) {
  for (Instr& instr : body) {
    if (instr.code == code) return instr;
    for (Instr& inner : instr.body)
      if (inner.code == code) return inner;
  }
  throw std::logic_error("not there");
}

struct Break {
  const char* name;
  std::function<void(const Sample&, TileProgram&)> apply;
  const char* message;  // part of it
};

void PrintTo(const Break& broken, std::ostream* out) { *out << broken.name; }

class VerifyTileTest : public testing::TestWithParam<Break> {};

TEST_P(VerifyTileTest, RefusesItByName) {
  Sample sample;
  TileProgram program = sample.b.program();
  GetParam().apply(sample, program);
  try {
    verify(program);
    FAIL() << "nothing was wrong";
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find(GetParam().message), std::string::npos)
        << error.what();
  }
}

Value& value(TileProgram& program, ValueId id) { return program.values[id]; }

const Break kBreaks[] = {
    {"use_before_definition",
     [](const Sample& s, TileProgram& p) { find(p.body, Code::load).args[0] = s.scaled; },
     "is used before it is defined: load of"},
    {"unknown_value", [](const Sample&, TileProgram& p) { find(p.body, Code::load).args[0] = 999; },
     "%999 is used before it is defined"},
    {"defined_twice",
     [](const Sample& s, TileProgram& p) { find(p.body, Code::load).results[0] = s.cols; }, ""},
    {"loop_value_used_outside",
     [](const Sample&, TileProgram& p) {
       const ValueId inner = find(p.body, Code::loop).body_yields[0];
       find(p.body, Code::store).args[1] = inner;
     },
     "is used before it is defined: store of"},
    {"tiles_that_do_not_broadcast",
     [](const Sample& s, TileProgram& p) {
       for (Instr& instr : p.body)
         if (instr.code == Code::arange) instr.axis = Axis::cols;
       value(p, s.rows).shape = {1, 3};
       value(p, s.offsets - 1).shape = {1, 3};
     },
     "tiles do not broadcast: add of %6, %8"},
    {"pointwise_dtype",
     [](const Sample& s, TileProgram& p) { find(p.body, Code::pointwise).args[1] = s.scale; },
     "%2 is i64, not f64: mul of %2, %1"},
    {"pointwise_result_shape",
     [](const Sample& s, TileProgram& p) {
       value(p, s.scaled).shape = {1, 16};
     },
     "mul of"},
    {"pointwise_result_dtype",
     [](const Sample& s, TileProgram& p) { value(p, s.scaled).dtype = DType::f64; }, "mul of"},
    {"pointwise_arity",
     [](const Sample&, TileProgram& p) { find(p.body, Code::pointwise).args.pop_back(); },
     "mul of"},
    {"sixteen_bit_value",
     [](const Sample& s, TileProgram& p) { value(p, s.start).dtype = DType::f16; }, ""},
    {"cast_result", [](const Sample& s, TileProgram& p) { value(p, s.factor).dtype = DType::i32; },
     "cast of"},
    {"store_to_a_read_only_buffer",
     [](const Sample& s, TileProgram& p) { find(p.body, Code::store).index = s.x; },
     "store to read-only buffer x"},
    {"unknown_buffer", [](const Sample&, TileProgram& p) { find(p.body, Code::load).index = 7; },
     "no buffer 7: load of"},
    {"unknown_scalar", [](const Sample&, TileProgram& p) { find(p.body, Code::scalar).index = 7; },
     "no scalar 7"},
    {"load_of_another_dtype",
     [](const Sample&, TileProgram& p) { p.buffers[0].dtype = DType::i32; }, "x is i32: load of"},
    {"store_of_another_dtype",
     [](const Sample&, TileProgram& p) { p.buffers[1].dtype = DType::i32; }, "y is i32: store of"},
    {"offsets_that_are_no_integers",
     [](const Sample& s, TileProgram& p) { find(p.body, Code::load).args[0] = s.scale; },
     "offsets are i64: load of"},
    {"mask_that_is_no_bool",
     [](const Sample& s, TileProgram& p) { find(p.body, Code::load).args[1] = s.cols; },
     "masks are bool: load of"},
    {"load_other_without_mask",
     [](const Sample&, TileProgram& p) { find(p.body, Code::load).args[1] = kNoValue; },
     "a value for elsewhere needs a mask"},
    {"load_other_of_another_dtype",
     [](const Sample& s, TileProgram& p) { find(p.body, Code::load).args[2] = s.scale; },
     "the value for elsewhere"},
    {"load_smaller_than_its_mask",
     [](const Sample& s, TileProgram& p) {
       Instr& load = find(p.body, Code::load);
       load.args[0] = s.n;
       value(p, s.loaded).shape = {1, 1};
     },
     "the mask does not broadcast"},
    {"stored_tile_larger_than_its_offsets",
     [](const Sample& s, TileProgram& p) { find(p.body, Code::store).args[0] = s.cols; },
     "a stored tile is no larger than its offsets"},
    {"reduce_result_shape",
     [](const Sample& s, TileProgram& p) {
       value(p, s.sums[0]).shape = {1, 1};
     },
     "reduce of"},
    {"argmax_of_one",
     [](const Sample&, TileProgram& p) {
       find(p.body, Code::reduce).reduce_kind = ReduceKind::argmax;
     },
     "reduce of"},
    {"argmax_of_positions_that_are_reals",
     [](const Sample& s, TileProgram& p) {
       Instr& reduce = find(p.body, Code::reduce);
       reduce.reduce_kind = ReduceKind::argmax;
       reduce.args.push_back(s.scaled);
       reduce.results.push_back(s.sums[0]);
     },
     "positions are i32 or i64: reduce of %14, %14"},
    {"loop_bound_that_is_a_tile",
     [](const Sample& s, TileProgram& p) { find(p.body, Code::loop).args[1] = s.cols; },
     "bounds are i64 scalars"},
    {"loop_carries_another_shape",
     [](const Sample& s, TileProgram& p) { find(p.body, Code::loop).body_yields[0] = s.factor; },
     "is carried as something else"},
    {"loop_yields_too_little",
     [](const Sample&, TileProgram& p) { find(p.body, Code::loop).body_yields.clear(); },
     "loop of"},
};

INSTANTIATE_TEST_SUITE_P(TileProgramTest, VerifyTileTest, testing::ValuesIn(kBreaks),
                         [](const auto& row) { return std::string(row.param.name); });

// --- the text ---

TEST(TileProgramTest, PrintsEveryInstruction) {
  Sample sample;
  sample.b.set_caching(Caching::nothing);
  EXPECT_EQ(to_string(sample.b.program()),
            R"(kernel sample
  caching nothing
  in x: f16
  out y: f32
  scalar n: i64
  scalar scale: f64
  %0: i64 = scalar n
  %1: f64 = scalar scale
  %2: i64 = program_id
  %3: i64 = constant 64
  %4: i64 = mul %2, %3
  %5: i64(1, 16) = arange cols 16
  %6: i64(1, 16) = add %4, %5
  %7: i64(4, 1) = arange rows 4
  %8: i64(4, 1) = mul %7, %0
  %9: i64(4, 16) = add %6, %8
  %10: bool(1, 16) = lt %6, %0
  %11: f32 = constant 0.0
  %12: f32(4, 16) = load x[%9] where %10 else %11
  %13: f32 = cast %1 to f32
  %14: f32(4, 16) = mul %12, %13
  %15: f32(1, 16) = broadcast %11 to (1, 16)
  %16: i64 = constant 0
  %17: i64 = constant 1
  %21: f32(1, 16) = loop %18 = %16 to %0 step %17 carrying %19 = %15
    %20: f32(1, 16) = add %19, %13
    yield %20
  %22: f32(4, 1) = reduce sum %14
  %23: f32(4, 16) = add %14, %21
  store y[%9] = %23 where %10
)");
}

TEST(TileProgramTest, ForEachInstrVisitsLoopBodies) {
  Sample sample;
  int adds = 0;
  for_each_instr(sample.b.program().body, [&](const Instr& instr) {
    adds += instr.code == Code::pointwise && instr.op == Op::add ? 1 : 0;
  });
  EXPECT_EQ(adds, 4) << "two of index arithmetic, one in the loop, one stored";
}

}  // namespace
}  // namespace sinter::tile
