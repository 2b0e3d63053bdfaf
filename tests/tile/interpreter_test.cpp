// The interpreter, instruction by instruction.
#include "src/tile/interpreter.h"

#include <gtest/gtest.h>
#include <sinter/error.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "src/tile/builder.h"

namespace sinter::tile {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <typename T>
BufferBinding bind(std::vector<T>& data) {
  return {data.data(), static_cast<std::int64_t>(data.size())};
}

// Runs a program that stores the tile `make` builds from x; returns the stored values.
template <typename Out, typename In>
std::vector<Out> run(std::vector<In> x, DType in, DType out,
                     const std::function<ValueId(Builder&, int x)>& make) {
  Builder b("test");
  const int buffer = b.add_buffer("x", in, false);
  const int target = b.add_buffer("y", out, true);
  const ValueId value = make(b, buffer);
  const TileShape shape = b[value].shape;
  const ValueId offsets = b.add(b.mul(b.arange(Axis::rows, shape.rows), b.integer(shape.cols)),
                                b.arange(Axis::cols, shape.cols));
  b.store(target, offsets, value, kNoValue);
  const TileProgram program = b.finish();
  verify(program);
  std::vector<Out> y(static_cast<std::size_t>(shape.rows * shape.cols));
  const std::vector<BufferBinding> buffers{bind(x), bind(y)};
  interpret(program, buffers, {}, 0, 1);
  return y;
}

std::vector<float> run_f32(std::vector<float> x,
                           const std::function<ValueId(Builder&, int x)>& make) {
  return run<float>(std::move(x), DType::f32, DType::f32, make);
}

using Floats = std::vector<float>;
using Longs = std::vector<std::int64_t>;

TEST(InterpreterTest, Constants) {
  EXPECT_EQ(run_f32({}, [](Builder& b, int) { return b.real(2.5, DType::f32); }), Floats({2.5f}));
  EXPECT_EQ((run<std::int64_t, float>({}, DType::f32, DType::i64,
                                      [](Builder& b, int) {
                                        return b.integer(std::numeric_limits<std::int64_t>::min());
                                      })),
            Longs({std::numeric_limits<std::int64_t>::min()}));
}

TEST(InterpreterTest, ScalarsHoldIntegersOrBitsOfReals) {
  Builder b("scalars");
  const int y = b.add_buffer("y", DType::f64, true);
  const ValueId n = b.add_scalar("n", DType::i64);
  const ValueId f = b.add_scalar("f", DType::f64);
  b.store(y, b.integer(0), b.pointwise(Op::mul, {b.cast(n, DType::f64), f}), kNoValue);
  const TileProgram program = b.finish();
  std::vector<double> out(1);
  const std::vector<BufferBinding> buffers{bind(out)};
  interpret(program, buffers, Longs{3, std::bit_cast<std::int64_t>(0.25)}, 0, 1);
  EXPECT_EQ(out[0], 0.75);
}

TEST(InterpreterTest, EachProgramHasItsId) {
  Builder b("ids");
  const int y = b.add_buffer("y", DType::i64, true);
  const ValueId id = b.program_id();
  b.store(y, id, b.pointwise(Op::mul, {id, id}), kNoValue);
  const TileProgram program = b.finish();
  Longs out(6, -1);
  const std::vector<BufferBinding> buffers{bind(out)};
  interpret(program, buffers, {}, 2, 5);
  EXPECT_EQ(out, Longs({-1, -1, 4, 9, 16, -1}));
}

TEST(InterpreterTest, ArangeRunsAlongItsAxis) {
  EXPECT_EQ((run<std::int64_t, float>({}, DType::f32, DType::i64,
                                      [](Builder& b, int) {
                                        return b.add(b.mul(b.arange(Axis::rows, 2), b.integer(10)),
                                                     b.arange(Axis::cols, 3));
                                      })),
            Longs({0, 1, 2, 10, 11, 12}));
}

TEST(InterpreterTest, PointwiseBroadcastsRowsAndColumns) {
  EXPECT_EQ(run_f32({1, 2, 3, 4, 5, 6},
                    [](Builder& b, int x) {
                      const ValueId row = b.load(x, b.arange(Axis::cols, 3), kNoValue, kNoValue);
                      const ValueId column = b.load(x, b.arange(Axis::rows, 2), kNoValue, kNoValue);
                      return b.pointwise(Op::mul, {row, column});
                    }),
            Floats({1, 2, 3, 2, 4, 6}));
}

TEST(InterpreterTest, SelectTakesABoolFirst) {
  EXPECT_EQ(run_f32({1, 5, 3, 4},
                    [](Builder& b, int x) {
                      const ValueId v = b.load(x, b.arange(Axis::cols, 4), kNoValue, kNoValue);
                      const ValueId large = b.pointwise(Op::gt, {v, b.real(3, DType::f32)});
                      return b.pointwise(Op::where, {large, v, b.real(-1, DType::f32)});
                    }),
            Floats({-1, 5, -1, 4}));
}

TEST(InterpreterTest, CastsConvertAndRound) {
  const auto through = [](DType to) {
    return [to](Builder& b, int x) {
      return b.cast(b.load(x, b.arange(Axis::cols, 4), kNoValue, kNoValue), to);
    };
  };
  const Floats x{2.7f, -2.7f, 0.0f, 2049.5f};
  EXPECT_EQ((run<std::int32_t>(x, DType::f32, DType::i32, through(DType::i32))),
            std::vector<std::int32_t>({2, -2, 0, 2049}));
  EXPECT_EQ((run<std::uint8_t>(x, DType::f32, DType::boolean, through(DType::boolean))),
            std::vector<std::uint8_t>({1, 1, 0, 1}));
  EXPECT_EQ(run_f32(x, through(DType::f16)), Floats({2.69921875f, -2.69921875f, 0, 2050}));
  EXPECT_EQ(run_f32(x, through(DType::bf16)), Floats({2.703125f, -2.703125f, 0, 2048}));
  EXPECT_EQ((run<double>(x, DType::f32, DType::f64, through(DType::f64)))[3], 2049.5);
  EXPECT_EQ((run<std::int64_t>(Floats{kNan, 1e30f, -1e30f, 1}, DType::f32, DType::i64,
                               through(DType::i64))),
            Longs({0, std::numeric_limits<std::int64_t>::max(),
                   std::numeric_limits<std::int64_t>::min(), 1}));
}

TEST(InterpreterTest, SixteenBitBuffersWidenAndNarrow) {
  const std::vector<std::uint16_t> half{0x3c00, 0x4000, 0x7bff, 0x0001};
  auto copy = [](Builder& b, int x) {
    return b.load(x, b.arange(Axis::cols, 4), kNoValue, kNoValue);
  };
  EXPECT_EQ(run<float>(half, DType::f16, DType::f32, copy),
            Floats({1, 2, 65504, std::ldexp(1.0f, -24)}));
  EXPECT_EQ(run<std::uint16_t>(half, DType::f16, DType::f16, copy), half);
  EXPECT_EQ((run<std::uint16_t>(Floats{1, 1.00390625f, 3, -2}, DType::f32, DType::bf16, copy)),
            (std::vector<std::uint16_t>{0x3f80, 0x3f80, 0x4040, 0xc000}));
}

TEST(InterpreterTest, BoolBuffersTakeAnyByteForTrue) {
  EXPECT_EQ(
      (run<std::uint8_t>(std::vector<std::uint8_t>{0, 1, 2, 255}, DType::boolean, DType::boolean,
                         [](Builder& b, int x) {
                           return b.load(x, b.arange(Axis::cols, 4), kNoValue, kNoValue);
                         })),
      std::vector<std::uint8_t>({0, 1, 1, 1}));
}

TEST(InterpreterTest, MaskedLoadsGiveTheOtherValueAndTouchNothing) {
  EXPECT_EQ(run_f32({1, 2},
                    [](Builder& b, int x) {
                      const ValueId i = b.arange(Axis::cols, 4);
                      const ValueId mask = b.pointwise(Op::lt, {i, b.integer(2)});
                      return b.load(x, i, mask, b.real(-7, DType::f32));
                    }),
            Floats({1, 2, -7, -7}));
}

TEST(InterpreterTest, TheOtherValueCanBeATile) {
  EXPECT_EQ(
      run_f32({1, 2, 3, 4},
              [](Builder& b, int x) {
                const ValueId i = b.arange(Axis::cols, 4);
                const ValueId odd = b.pointwise(Op::eq, {b.modulo(i, b.integer(2)), b.integer(1)});
                return b.load(x, i, odd, b.cast(b.mul(i, b.integer(10)), DType::f32));
              }),
      Floats({0, 2, 20, 4}));
}

TEST(InterpreterTest, MaskedStoresTouchNothingElse) {
  Builder b("store");
  const int y = b.add_buffer("y", DType::f32, true);
  const ValueId i = b.arange(Axis::cols, 8);
  const ValueId even = b.pointwise(Op::eq, {b.modulo(i, b.integer(2)), b.integer(0)});
  const ValueId low = b.pointwise(Op::lt, {i, b.integer(5)});
  b.store(y, i, b.real(1, DType::f32), b.pointwise(Op::logical_and, {even, low}));
  const TileProgram program = b.finish();
  Floats out(5, -1);
  const std::vector<BufferBinding> buffers{bind(out)};
  interpret(program, buffers, {}, 0, 1);
  EXPECT_EQ(out, Floats({1, -1, 1, -1, 1}));
}

TEST(InterpreterTest, GathersFollowLoadedOffsets) {
  EXPECT_EQ((run<std::int64_t>(Longs{3, 0, 2, 1}, DType::i64, DType::i64,
                               [](Builder& b, int x) {
                                 const ValueId at =
                                     b.load(x, b.arange(Axis::cols, 4), kNoValue, kNoValue);
                                 return b.load(x, at, kNoValue, kNoValue);
                               })),
            Longs({1, 3, 2, 0}));
}

TEST(InterpreterTest, ReductionsRunAlongColumns) {
  const Floats x{1, 5, 2, -3, 0, -4};
  auto reduced = [&](ReduceKind kind) {
    return run_f32(x, [kind](Builder& b, int buffer) {
      const ValueId at =
          b.add(b.mul(b.arange(Axis::rows, 2), b.integer(3)), b.arange(Axis::cols, 3));
      return b.reduce(kind, std::vector{b.load(buffer, at, kNoValue, kNoValue)})[0];
    });
  };
  EXPECT_EQ(reduced(ReduceKind::sum), Floats({8, -7}));
  EXPECT_EQ(reduced(ReduceKind::prod), Floats({10, 0}));
  EXPECT_EQ(reduced(ReduceKind::max), Floats({5, 0}));
  EXPECT_EQ(reduced(ReduceKind::min), Floats({1, -4}));
}

TEST(InterpreterTest, ANanWinsMaximaAndMinima) {
  for (ReduceKind kind : {ReduceKind::max, ReduceKind::min})
    EXPECT_TRUE(std::isnan(run_f32({1, kNan, kInfinity}, [kind](Builder& b, int x) {
      const ValueId v = b.load(x, b.arange(Axis::cols, 3), kNoValue, kNoValue);
      return b.reduce(kind, std::vector{v})[0];
    })[0]));
}

TEST(InterpreterTest, LongSumsAreAddedInPairs) {
  // Sequential addition would lose too much precision.
  const std::size_t count = 1 << 18;
  EXPECT_EQ(run_f32(Floats(count, 100.1f),
                    [&](Builder& b, int x) {
                      const ValueId v =
                          b.load(x, b.arange(Axis::cols, static_cast<std::int64_t>(count)),
                                 kNoValue, kNoValue);
                      return b.reduce(ReduceKind::sum, std::vector{v})[0];
                    })[0],
            100.1f * static_cast<float>(count));
}

TEST(InterpreterTest, ArgmaxGivesTheFirstBestPosition) {
  auto position = [](Floats x, ReduceKind kind) {
    const auto count = static_cast<std::int64_t>(x.size());
    return run<std::int32_t>(std::move(x), DType::f32, DType::i32, [&](Builder& b, int buffer) {
      const ValueId i = b.arange(Axis::cols, count);
      const ValueId v = b.load(buffer, i, kNoValue, kNoValue);
      return b.reduce(kind, std::vector{v, b.cast(i, DType::i32)})[1];
    })[0];
  };
  EXPECT_EQ(position({1, 7, 7, 2}, ReduceKind::argmax), 1);
  EXPECT_EQ(position({3, 1, 1, 2}, ReduceKind::argmin), 1);
  EXPECT_EQ(position({1, kInfinity, kNan, kNan}, ReduceKind::argmax), 2);
  EXPECT_EQ(position({1, -kInfinity, kNan, kNan}, ReduceKind::argmin), 2);
  EXPECT_EQ(position({-kInfinity, -kInfinity}, ReduceKind::argmax), 0);
}

TEST(InterpreterTest, BoolsReduceToAnyAndAll) {
  auto reduced = [](ReduceKind kind, std::vector<std::uint8_t> x) {
    return run<std::uint8_t>(
        std::move(x), DType::boolean, DType::boolean, [kind](Builder& b, int buffer) {
          const ValueId v = b.load(buffer, b.arange(Axis::cols, 3), kNoValue, kNoValue);
          return b.reduce(kind, std::vector{v})[0];
        })[0];
  };
  EXPECT_EQ(reduced(ReduceKind::max, {0, 1, 0}), 1);
  EXPECT_EQ(reduced(ReduceKind::max, {0, 0, 0}), 0);
  EXPECT_EQ(reduced(ReduceKind::min, {1, 1, 1}), 1);
  EXPECT_EQ(reduced(ReduceKind::min, {1, 0, 1}), 0);
}

TEST(InterpreterTest, BroadcastRepeats) {
  EXPECT_EQ(
      run_f32(
          {1, 2},
          [](Builder& b, int x) {
            return b.broadcast_to(b.load(x, b.arange(Axis::rows, 2), kNoValue, kNoValue), {2, 3});
          }),
      Floats({1, 1, 1, 2, 2, 2}));
}

TEST(InterpreterTest, LoopsCarryTilesAndScalars) {
  // (tile, scalar) -> (tile + i, scalar * 2): 4 iterations with i = 1, 4, 7, 10.
  EXPECT_EQ(run_f32({},
                    [](Builder& b, int) {
                      const ValueId tile = b.broadcast_to(b.real(0, DType::f32), {1, 2});
                      const auto left =
                          b.loop(b.integer(1), b.integer(12), b.integer(3),
                                 std::vector{tile, b.real(1, DType::f32)},
                                 [&](ValueId i, std::span<const ValueId> carried) {
                                   return std::vector{
                                       b.pointwise(Op::add, {carried[0], b.cast(i, DType::f32)}),
                                       b.pointwise(Op::mul, {carried[1], b.real(2, DType::f32)})};
                                 });
                      return b.pointwise(Op::add, {left[0], left[1]});
                    }),
            Floats({22 + 16, 22 + 16}));
}

TEST(InterpreterTest, LoopsCanSwapWhatTheyCarry) {
  EXPECT_EQ(run_f32({},
                    [](Builder& b, int) {
                      const auto left =
                          b.loop(b.integer(0), b.integer(3), b.integer(1),
                                 std::vector{b.real(1, DType::f32), b.real(2, DType::f32)},
                                 [&](ValueId, std::span<const ValueId> carried) {
                                   return std::vector{carried[1], carried[0]};
                                 });
                      return b.pointwise(Op::sub, {left[0], left[1]});
                    }),
            Floats({1}));
}

TEST(InterpreterTest, ALoopWithoutTripsGivesItsStart) {
  EXPECT_EQ(run_f32({},
                    [](Builder& b, int) {
                      return b.loop(b.integer(5), b.integer(5), b.integer(1),
                                    std::vector{b.real(3, DType::f32)},
                                    [&](ValueId, std::span<const ValueId> carried) {
                                      return std::vector{b.pointwise(Op::neg, {carried[0]})};
                                    })[0];
                    }),
            Floats({3}));
}

TEST(InterpreterTest, LoopsNest) {
  EXPECT_EQ((run<std::int64_t, float>({}, DType::f32, DType::i64,
                                      [](Builder& b, int) {
                                        const ValueId one = b.integer(1);
                                        auto body = [&](ValueId i, auto carried) {
                                          return b.loop(
                                              b.integer(0), i, one, std::vector{carried[0]},
                                              [&](ValueId j, std::span<const ValueId> inner) {
                                                return std::vector{b.add(inner[0], j)};
                                              });
                                        };
                                        return b.loop(b.integer(0), b.integer(5), one,
                                                      std::vector{b.integer(100)}, body)[0];
                                      })),
            Longs({100 + 0 + 1 + 3 + 6}));
}

TEST(InterpreterTest, AnAccessOutsideItsBufferNamesProgramBufferAndOffset) {
  Builder b("careless");
  const int x = b.add_buffer("weights", DType::f32, false);
  const int y = b.add_buffer("result", DType::f32, true);
  const ValueId at = b.mul(b.program_id(), b.integer(3));
  b.store(y, b.integer(0), b.load(x, at, kNoValue, kNoValue), kNoValue);
  const TileProgram program = b.finish();
  Floats in(6);
  Floats out(1);
  const std::vector<BufferBinding> buffers{bind(in), bind(out)};
  interpret(program, buffers, {}, 0, 2);
  try {
    interpret(program, buffers, {}, 2, 3);
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what())
                  .find("kernel careless, program 2: reads buffer weights at 6, which has 6 "
                        "elements"),
              std::string::npos)
        << error.what();
  }
}

TEST(InterpreterTest, AStoreOutsideItsBufferIsCaughtToo) {
  Builder b("careless");
  const int y = b.add_buffer("result", DType::f32, true);
  b.store(y, b.integer(-1), b.real(0, DType::f32), kNoValue);
  const TileProgram program = b.finish();
  Floats out(4);
  const std::vector<BufferBinding> buffers{bind(out)};
  try {
    interpret(program, buffers, {}, 0, 1);
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find("program 0: writes buffer result at -1"),
              std::string::npos)
        << error.what();
  }
}

TEST(InterpreterTest, TheNumberOfParametersIsChecked) {
  Builder b("k");
  b.add_buffer("x", DType::f32, false);
  const TileProgram program = b.finish();
  EXPECT_THROW(interpret(program, {}, {}, 0, 1), InternalError);
}

}  // namespace
}  // namespace sinter::tile
