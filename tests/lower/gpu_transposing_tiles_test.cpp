// Tiles of GPU kernels whose operands run along different axes.
#include <gtest/gtest.h>

#include "tests/lower/gpu_decisions.h"

namespace sinter {
namespace {

using testing_support::decide;
using testing_support::Decision;
using testing_support::GraphMaker;
using testing_support::transposed;

TEST(TransposingTilesTest, ATransposedOperandGetsASquareTile) {
  for (std::int64_t size : {4096, 512}) {
    GraphMaker maker;
    const Operand x = maker.input({size, size});
    const Operand y = maker.input({size, size});
    maker.output(maker.op(Op::add, {x, transposed(y)}));
    const Decision d = decide(maker.graph);
    EXPECT_EQ(d.family(), "pointwise");
    EXPECT_EQ(d.tiling().tile_rows, d.tiling().tile_cols);
    EXPECT_EQ(d.tiling().tile_cols, size == 4096 ? 64 : 32) << "small ones where there are few";
    EXPECT_EQ(d.tiling().tile_rows * d.tiling().tile_cols % d.mapping().threads, 0)
        << "or it does not go through shared memory";
  }
}

TEST(TransposingTilesTest, SizesThatAreNoMultiplesOfVectorsDoNotNarrowTransposingTiles) {
  for (const auto& [dtype, vector] : {std::pair{DType::f16, 8}, {DType::f32, 4}}) {
    GraphMaker maker;
    const Operand x = maker.input({4099, 4091}, dtype);
    const Operand y = maker.input({4091, 4099}, dtype);
    maker.output(maker.op(Op::add, {x, transposed(y)}));
    const Decision d = decide(maker.graph);
    EXPECT_EQ(d.mapping().vector, vector);
    ASSERT_GE(d.tiling().aligned_to, 0);
    EXPECT_TRUE(d.space.accesses[static_cast<std::size_t>(d.tiling().aligned_to)].write);
    EXPECT_EQ(d.tiling().tile_rows, 64);
    EXPECT_EQ(d.tiling().tile_cols, 64);
  }
}

TEST(TransposingTilesTest, ShortRowsBesideTransposedOperandsAreMovedAsOneRun) {
  const auto decide_sum = [](std::int64_t rows, std::int64_t cols) {
    GraphMaker maker;
    const Operand x = maker.input({rows, cols}, DType::bf16);
    maker.output(maker.op(Op::add, {x, transposed(maker.input({cols, rows}, DType::bf16))}));
    return decide(maker.graph);
  };
  const Decision d = decide_sum(1 << 20, 30);
  EXPECT_TRUE(d.tiling().dense_rows);
  EXPECT_EQ(d.tiling().tile_cols, 30);
  EXPECT_EQ(d.mapping().threads_per_row, 2) << "they divide the columns";
  EXPECT_EQ(d.tiling().tile_rows % (d.mapping().threads / 2), 0);
  EXPECT_FALSE(decide_sum(1 << 20, 131).tiling().dense_rows) << "long enough to be cut";
  EXPECT_FALSE(decide_sum(1 << 20, 32).tiling().dense_rows) << "even";
  EXPECT_FALSE(decide_sum(300, 30).tiling().dense_rows) << "few";
}

TEST(TransposingTilesTest, TransposingTilesOfFewRowsOrColumnsAreLong) {
  const auto tile_of = [](std::int64_t rows, std::int64_t cols) {
    GraphMaker maker;
    const Operand x = maker.input({rows, cols});
    maker.output(maker.op(Op::add, {x, transposed(maker.input({cols, rows}))}));
    const Tiling tiling = decide(maker.graph).tiling();
    return std::pair{tiling.tile_rows, tiling.tile_cols};
  };
  EXPECT_EQ(tile_of(1 << 22, 4), std::pair(1024L, 4L));
  EXPECT_EQ(tile_of(7, 1 << 22), std::pair(8L, 256L));
  EXPECT_EQ(tile_of(1 << 22, 32), std::pair(128L, 32L));
}

TEST(TransposingTilesTest, LargeStridesOfTransposedTensorsOrderTilesByRows) {
  const auto rows_first = [](std::int64_t rows, std::int64_t cols) {
    GraphMaker maker;
    const Operand x = maker.input({rows, cols});
    maker.output(maker.op(Op::add, {x, transposed(maker.input({cols, rows}))}));
    return decide(maker.graph).tiling().rows_first;
  };
  EXPECT_TRUE(rows_first(32768, 16384));
  EXPECT_FALSE(rows_first(16384, 16384)) << "64 KiB";
  EXPECT_FALSE(rows_first(32768, 32768)) << "the other tensors' are, too";
  EXPECT_FALSE(rows_first(1024, 65536));
  EXPECT_FALSE(rows_first(32769, 16384)) << "columns do not compete for the same sets";
}

TEST(TransposingTilesTest, TilesAreNarrowWhereAllLinesAreFarApart) {
  const auto tile_of = [](std::int64_t rows, std::int64_t cols, DType dtype) {
    GraphMaker maker;
    const Operand x = maker.input({rows, cols}, dtype);
    maker.output(maker.op(Op::add, {x, transposed(maker.input({cols, rows}, dtype))}));
    const Tiling tiling = decide(maker.graph).tiling();
    return std::pair{tiling.tile_rows, tiling.tile_cols};
  };
  EXPECT_EQ(tile_of(32768, 65536, DType::f32), std::pair(64L, 32L));
  EXPECT_EQ(tile_of(32768, 16384, DType::f32), std::pair(64L, 64L)) << "one of them only";
  EXPECT_EQ(tile_of(65536, 65536, DType::f16), std::pair(64L, 64L)) << "32 would be 64 bytes";
}

TEST(TransposingTilesTest, TilesAreSmallWhereLargeOnesWouldBeFew) {
  const auto tile_of = [](DType dtype) {
    GraphMaker maker;
    const Operand x = maker.input({1024, 2048}, dtype);
    maker.output(maker.op(Op::add, {x, transposed(maker.input({2048, 1024}, dtype))}));
    return decide(maker.graph).tiling().tile_cols;
  };
  EXPECT_EQ(tile_of(DType::f32), 32);
  EXPECT_EQ(tile_of(DType::f16), 64) << "32 would be 64 bytes";
}

}  // namespace
}  // namespace sinter
