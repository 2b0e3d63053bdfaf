// The GPU heuristic's decisions: family, threads per row, clusters, vectors and tiles for the
// shapes it was designed for, and the list of configs that tuning measures.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "tests/lower/gpu_decisions.h"

namespace sinter {
namespace {

using testing_support::along_rows;
using testing_support::centred_and_scaled;
using testing_support::decide;
using testing_support::Decision;
using testing_support::expanded;
using testing_support::GraphMaker;
using testing_support::kHopper;
using testing_support::reduction;
using testing_support::seen;
using testing_support::softmax;
using testing_support::softmax_of;
using testing_support::sum_beside_cosine;
using testing_support::transposed;

using tile::Caching;

struct RowDecision {
  Shape shape;
  int group;
  int cluster;
  int threads;
  std::int64_t tile_rows;
};

class MappingOfSoftmax : public testing::TestWithParam<RowDecision> {};

TEST_P(MappingOfSoftmax, HoldsARowInAsFewThreadsAsItFits) {
  const RowDecision& expected = GetParam();
  const Decision d = decide(softmax(expected.shape));
  EXPECT_EQ(d.family(), "row");
  EXPECT_EQ(d.size(d.tiling().col_axis), expected.shape[1]);
  EXPECT_EQ(d.mapping().vector, 4);
  EXPECT_EQ(d.mapping().threads_per_row, expected.group);
  EXPECT_EQ(d.mapping().cluster, expected.cluster);
  EXPECT_EQ(d.mapping().threads, expected.threads);
  EXPECT_EQ(d.tiling().tile_rows, expected.tile_rows);
  EXPECT_EQ(d.tiling().tile_cols, expected.shape[1]) << "nothing to mask";
}

INSTANTIATE_TEST_SUITE_P(Shapes, MappingOfSoftmax,
                         testing::Values(RowDecision{{65536, 128}, 8, 1, 128, 16},
                                         RowDecision{{4096, 4096}, 128, 1, 128, 1},
                                         RowDecision{{8192, 16384}, 128, 2, 128, 1},
                                         RowDecision{{128, 16384}, 128, 4, 128, 1},
                                         RowDecision{{128, 65536}, 128, 8, 128, 1}),
                         [](const auto& each) {
                           return std::to_string(each.param.shape[0]) + "x" +
                                  std::to_string(each.param.shape[1]);
                         });

TEST(MappingTest, VectorsFollowTheTypeAndTheRowsStride) {
  EXPECT_EQ(decide(softmax({256, 1024})).mapping().vector, 4);
  EXPECT_EQ(decide(softmax({256, 1024}, DType::bf16)).mapping().vector, 8);
  EXPECT_EQ(decide(softmax({256, 1024}, DType::f64)).mapping().vector, 2);
}

// Rows that begin anywhere are cut where the result reaches a multiple of the vector.
TEST(MappingTest, RowsThatBeginAnywhereHaveWholeVectors) {
  const auto expect_cut = [](const Graph& graph, int vector) {
    const Decision d = decide(graph);
    EXPECT_EQ(d.mapping().vector, vector);
    ASSERT_GE(d.tiling().aligned_to, 0);
    EXPECT_TRUE(d.space.accesses[static_cast<std::size_t>(d.tiling().aligned_to)].write);
    EXPECT_GE(d.tiling().tile_cols, d.size(d.tiling().col_axis) + vector - 1);
  };
  expect_cut(softmax({256, 1023}), 4);
  expect_cut(softmax({256, 1023}, DType::bf16), 8);
  expect_cut(centred_and_scaled({256, 50257}, DType::f16), 8);
  EXPECT_EQ(decide(softmax({256, 1024})).tiling().aligned_to, -1);
  const Decision pairs = decide(softmax({256, 1022}));
  EXPECT_EQ(pairs.mapping().vector, 2) << "8 bytes need no cut";
  EXPECT_EQ(pairs.tiling().aligned_to, -1);
}

TEST(MappingTest, ReadsThatBeginElsewhereDoNotNarrowTheVectors) {
  GraphMaker maker;
  const Operand gaps = maker.input_view({{256, 1024}, {1025, 1}, 0});
  const Decision d = decide(softmax_of(maker, gaps));
  EXPECT_EQ(d.mapping().vector, 4);
  EXPECT_EQ(d.tiling().aligned_to, -1) << "the result's rows are aligned";
  GraphMaker shifted;
  const Operand behind = shifted.input_view({{256, 1024}, {1024, 1}, 1});
  EXPECT_EQ(decide(softmax_of(shifted, behind)).mapping().vector, 4);
  EXPECT_EQ(decide(reduction({256, 1023}, 1)).mapping().vector, 4);
}

// A block moves them as one run of memory, a thread computes a row.
TEST(MappingTest, ShortRowsThatBeginAnywhereAreMovedAsOneRun) {
  const Decision d = decide(softmax({100000, 17}));
  EXPECT_TRUE(d.tiling().dense_rows);
  EXPECT_EQ(d.tiling().tile_cols, 17);
  EXPECT_EQ(d.mapping().vector, 1);
  EXPECT_EQ(d.mapping().threads_per_row, 1);
  EXPECT_EQ(decide(softmax({100000, 58}, DType::f16)).mapping().threads_per_row, 2);
  EXPECT_FALSE(decide(softmax({100000, 60}, DType::f16)).tiling().dense_rows) << "15 x 8 bytes";
  EXPECT_TRUE(decide(centred_and_scaled({100000, 17})).tiling().dense_rows) << "weights are shared";
  EXPECT_FALSE(decide(softmax({100000, 16})).tiling().dense_rows) << "whole vectors";
  GraphMaker maker;
  const Operand gaps = maker.input_view({{256, 17}, {18, 1}, 0});
  EXPECT_FALSE(decide(softmax_of(maker, gaps)).tiling().dense_rows);
}

Graph bias_of(const Shape& shape, DType dtype = DType::f32) {
  GraphMaker maker;
  const Operand x = maker.input(shape, dtype);
  maker.output(maker.op(Op::add, {x, expanded(maker.input({shape[1]}, dtype), shape)}));
  return maker.graph;
}

TEST(MappingTest, ShortRowsOfPointwiseWorkAreOneRow) {
  const auto is_flat = [](const Decision& d) {
    return std::get<PointwiseConfig>(d.config).flat_rows;
  };
  const Decision d = decide(bias_of({100000, 17}));
  EXPECT_TRUE(is_flat(d));
  EXPECT_EQ(d.mapping().vector, 4);
  EXPECT_FALSE(is_flat(decide(bias_of({100000, 16})))) << "whole vectors";
  EXPECT_FALSE(is_flat(decide(bias_of({100000, 301})))) << "mostly whole vectors";
}

// 257 vectors in a row, since it begins inside one: with two each, 16 threads leave a tenth idle,
// 128 a half.
TEST(MappingTest, FewThreadsAreIdleAtTheEndOfARow) {
  const Decision d = decide(bias_of({4096, 1023}));
  EXPECT_EQ(d.mapping().threads, 128);
  EXPECT_EQ(d.mapping().threads_per_row, 16);
  EXPECT_EQ(decide(bias_of({4096, 1024})).mapping().threads_per_row, 128);
}

TEST(MappingTest, WithoutClustersALongRowTakesMoreThreadsOfOneBlock) {
  Machine ampere = kHopper;
  ampere.largest_cluster = 1;
  const Decision d = decide(softmax({128, 32768}), ampere);
  EXPECT_EQ(d.family(), "row");
  EXPECT_EQ(d.mapping().cluster, 1);
  EXPECT_GT(d.mapping().threads, 256);
  EXPECT_EQ(decide(softmax({128, 65536}), ampere).family(), "chunked")
      << "registers of a block do not hold it";
}

TEST(MappingTest, ARowThatNoClusterHoldsIsWalkedInChunks) {
  const Decision d = decide(softmax({3, 1 << 21}));
  EXPECT_EQ(d.family(), "chunked");
  EXPECT_EQ(d.mapping().cluster, 1);
  EXPECT_LT(d.tiling().tile_cols, 1 << 21);
}

TEST(MappingTest, FewRowsHaveBlocksOfTheirOwn) {
  EXPECT_EQ(decide(softmax({512, 1024})).tiling().tile_rows, 1);
  EXPECT_EQ(decide(softmax({1024, 1024})).tiling().tile_rows, 2);
}
TEST(MappingTest, FewRowsAreSharedByMoreThreads) {
  EXPECT_GT(decide(softmax({64, 2048})).mapping().threads_per_row,
            decide(softmax({8192, 2048})).mapping().threads_per_row);
}

TEST(MappingTest, ReducingAnOuterAxisPutsAKeptOneOnTheThreads) {
  const Decision d = decide(reduction({2000, 2048}, 0));
  EXPECT_EQ(d.family(), "column");
  EXPECT_EQ(d.size(d.tiling().col_axis), 2048);
  EXPECT_FALSE(d.space.axes[d.tiling().col_axis].reduced);
  EXPECT_EQ(d.mapping().vector, 4);
}

TEST(MappingTest, ShortReductionsOfFewColumnsAreTransposedInSharedMemory) {
  for (const Shape& shape : {Shape{256, 4096}, Shape{300, 17}, Shape{7, 12}}) {
    const Decision d = decide(reduction(shape, 0));
    EXPECT_EQ(d.family(), "row") << to_string(shape);
    EXPECT_TRUE(d.space.axes[d.tiling().col_axis].reduced);
    EXPECT_EQ(d.size(d.tiling().row_axis), shape[1]);
    EXPECT_GE(d.tiling().tile_cols, shape[0]);
    EXPECT_EQ(d.tiling().tile_rows * d.tiling().tile_cols % d.mapping().threads, 0)
        << "or it does not go through shared memory";
  }
  EXPECT_EQ(decide(reduction({256, 1 << 20}, 0)).family(), "column") << "many columns";
}

Graph channel_means_removed(const Shape& shape) {
  GraphMaker maker;
  const Operand x = maker.input(shape);
  Operand sums = maker.reduce(ReduceKind::sum, x, {0, 2});
  sums.view = row_broadcast(shape, 0b101);
  maker.output(maker.op(Op::sub, {x, sums}));
  return maker.graph;
}

TEST(MappingTest, ElementsOfAChannelAreARowOnChip) {
  const Decision d = decide(channel_means_removed({32, 256, 3136}));
  EXPECT_EQ(d.family(), "row");
  EXPECT_EQ(d.size(d.tiling().col_axis), 32 * 3136);
  EXPECT_EQ(d.mapping().vector, 4) << "no vector crosses an image's end";
  const Decision odd = decide(channel_means_removed({32, 256, 3025}));
  EXPECT_EQ(odd.family(), "row") << to_string(odd.config);
  EXPECT_EQ(odd.mapping().vector, 1);
}

// Per-row operands, broadcast along the rows, must not make a short kept axis the columns.
TEST(MappingTest, RowValuesFromElsewhereDoNotTurnTheTile) {
  GraphMaker maker;
  const Shape shape{3, 128, 2400};
  Operand x = maker.input(shape);
  for (int i = 0; i < 3; ++i)
    x = maker.op(Op::mul, {x, seen(maker.input({3}), View{shape, {1, 0, 0}, 0})});
  maker.output(maker.reduce(ReduceKind::sum, x, {2}));
  const Decision d = decide(maker.graph);
  EXPECT_EQ(d.family(), "row");
  EXPECT_EQ(d.size(d.tiling().col_axis), 2400);
}

TEST(MappingTest, ASharedOperandIsUsedForSeveralRows) {
  const auto with_bias = [](std::int64_t rows, DType dtype) {
    GraphMaker maker;
    const Operand x = maker.input({rows, 1024}, dtype);
    const Operand bias = maker.input({1024}, dtype);
    maker.output(maker.op(Op::add, {x, expanded(bias, {rows, 1024})}));
    return decide(maker.graph);
  };
  EXPECT_EQ(with_bias(65536, DType::bf16).rows_each(), 4);
  EXPECT_EQ(with_bias(64, DType::bf16).rows_each(), 1) << "blocks for all multiprocessors first";
  EXPECT_EQ(with_bias(64, DType::f32).rows_each(), 2);
  EXPECT_EQ(with_bias(65536, DType::f32).rows_each(), 1) << "little to unpack";
  EXPECT_EQ(with_bias(65536, DType::f32).tiling().tile_cols, 1024) << "two vectors a thread";
  GraphMaker maker;
  const Operand x = maker.input_view({{65536, 256}, {512, 1}, 0});
  maker.output(maker.op(Op::exp, {x}));
  EXPECT_EQ(decide(maker.graph).rows_each(), 2) << "a row is too short for two vectors";
}

TEST(MappingTest, AScalarTakesOneWarp) {
  GraphMaker maker;
  maker.output(maker.op(Op::exp, {maker.input({})}));
  const Decision d = decide(maker.graph);
  EXPECT_EQ(d.tiling().col_axis, -1);
  EXPECT_EQ(d.mapping().threads, 32);
}

// The machine's cache holds 50 MiB.
TEST(MappingTest, ResultsAreKeptWhereTheyFitButNotWithAllThatIsRead) {
  const auto exponential = [](const Shape& shape) {
    GraphMaker maker;
    maker.output(maker.op(Op::exp, {maker.input(shape)}));
    return decide(maker.graph).tiling().caching;
  };
  EXPECT_EQ(exponential({4096, 1024}), Caching::operands) << "16 MiB and 16 MiB";
  EXPECT_EQ(exponential({8192, 1024}), Caching::results) << "32 MiB and 32 MiB";
  EXPECT_EQ(exponential({16384, 1024}), Caching::operands) << "64 MiB and 64 MiB";
  EXPECT_EQ(decide(softmax({8192, 1024})).tiling().caching, Caching::results);
}
TEST(MappingTest, CachingOfReductionsDependsOnTheirSize) {
  EXPECT_EQ(decide(reduction({2048, 1024}, 1)).tiling().caching, Caching::operands) << "8 MiB";
  EXPECT_EQ(decide(reduction({8192, 4096}, 1)).tiling().caching, Caching::results) << "128 MiB";
  EXPECT_EQ(decide(reduction({65536, 4096}, 1)).tiling().caching, Caching::operands) << "1 GiB";
}
// 16-bit floats stay packed (half2) until they are used.
TEST(MappingTest, PairsLeaveRoomForMoreBlocks) {
  const auto scaled = [](DType dtype) {
    const Shape shape{8192, 32768};
    GraphMaker maker;
    const Operand x = maker.input(shape, dtype);
    const Operand sum = maker.reduce(ReduceKind::sum, x, {1});
    maker.output(maker.op(Op::mul, {x, along_rows(sum, shape[1])}));
    const tile::Mapping mapping = decide(maker.graph).mapping();
    return mapping.threads * mapping.blocks_at_once;
  };
  EXPECT_GT(scaled(DType::bf16), scaled(DType::f32));
}

TEST(MappingTest, ResultsThatReplacePackedHalvesAllowMoreResidentBlocks) {
  EXPECT_EQ(decide(softmax({4096, 65536}, DType::f16)).mapping().blocks_at_once, 6);
  EXPECT_EQ(decide(softmax({4096, 65536})).mapping().blocks_at_once, 4);
  EXPECT_EQ(decide(softmax({65536, 2048}, DType::f16)).mapping().blocks_at_once, 4) << "in a warp";
  EXPECT_EQ(decide(softmax({65536, 65536}, DType::f16)).mapping().blocks_at_once, 5)
      << "64-bit indices";
  EXPECT_EQ(decide(softmax({128, 2048}, DType::f16)).mapping().blocks_at_once,
            decide(softmax({128, 2048})).mapping().blocks_at_once)
      << "all blocks have room";
  EXPECT_EQ(decide(softmax({512, 32768}, DType::f16)).mapping().prefetch, 1) << "three waves";
}

// Persistent blocks load operands shared by all rows once.
TEST(MappingTest, BlocksWithSharedOperandsPrefetch) {
  const auto scaled = [](const Shape& shape, DType dtype) {
    return decide(centred_and_scaled(shape, dtype)).mapping();
  };
  EXPECT_EQ(scaled({4096, 65536}, DType::f32).prefetch, 2);
  EXPECT_EQ(scaled({300, 16384}, DType::f32).prefetch, 1)
      << "the sanitizers' (suite_cases_test.cpp)";
  EXPECT_EQ(scaled({1024, 16384}, DType::f32).prefetch, 1);
  EXPECT_EQ(scaled({1024, 16384}, DType::bf16).prefetch, 1);
  EXPECT_EQ(scaled({2048, 16384}, DType::bf16).prefetch, 0)
      << "packed halves leave room for more blocks";
  EXPECT_EQ(scaled({1024, 32768}, DType::bf16).prefetch, 1);
  EXPECT_EQ(scaled({2048, 32768}, DType::bf16).prefetch, 0);
  EXPECT_EQ(scaled({65536, 1024}, DType::f32).prefetch, 0) << "short rows' blocks are many";
  EXPECT_EQ(scaled({1024, 16386}, DType::f32).prefetch, 0) << "no whole packs of 16 bytes";
  EXPECT_EQ(scaled({16, 32768}, DType::f32).prefetch, 0) << "no block has a second row";
}

// The text of a prefetch copies whole packs and knows no windows.
TEST(MappingTest, PaddedRowsAreNotPrefetched) {
  const auto shifted = [](std::int64_t padding) {
    GraphMaker maker;
    const Shape shape{1024, 16384};
    const Operand x = maker.input({1024, 16384 - padding});
    const View view = padding ? *pad(x.view, 1, 0, padding, Scalar::of(0.0)) : x.view;
    const Operand copied = maker.op(Op::copy, {seen(x, view)});
    const Operand mean = maker.reduce(ReduceKind::sum, copied, {1});
    const Operand centred = maker.op(Op::sub, {copied, along_rows(mean, shape[1])});
    maker.output(maker.op(Op::mul, {centred, expanded(maker.input({shape[1]}), shape)}));
    return decide(maker.graph).mapping().prefetch;
  };
  EXPECT_EQ(shifted(0), 1);
  EXPECT_EQ(shifted(8), 0);
}

TEST(MappingTest, LongRowsThatShareMuchTakeLargerBlocks) {
  const auto scaled = [](const Shape& shape) {
    const tile::Mapping mapping = decide(centred_and_scaled(shape)).mapping();
    return std::pair{mapping.threads_per_row, mapping.cluster};
  };
  EXPECT_EQ(scaled({4096, 32768}), std::pair(256, 2));
  EXPECT_EQ(scaled({512, 32768}), std::pair(128, 8)) << "few rows: half as much each";
  EXPECT_EQ(scaled({4096, 65536}), std::pair(256, 8));
}
TEST(MappingTest, FewPackedRowsThatShareMuchTakeManyThreads) {
  const auto scaled = [](const Shape& shape) {
    const tile::Mapping mapping = decide(centred_and_scaled(shape, DType::f16)).mapping();
    return std::pair{mapping.threads_per_row, mapping.cluster};
  };
  EXPECT_EQ(scaled({1024, 65536}), std::pair(128, 8));
  EXPECT_EQ(scaled({128, 65536}), std::pair(512, 2)) << "few blocks would have a second row";
  EXPECT_EQ(scaled({32, 32768}), std::pair(512, 2));
  EXPECT_EQ(scaled({128, 262144}), std::pair(512, 8)) << "smaller blocks do not hold it";
  EXPECT_EQ(scaled({1024, 262144}), std::pair(512, 8));
  EXPECT_EQ(scaled({128, 16384}), std::pair(512, 2));
  EXPECT_EQ(scaled({256, 16384}), std::pair(512, 1));
  EXPECT_EQ(scaled({512, 16384}), std::pair(256, 1));
  EXPECT_EQ(scaled({128, 8200}), std::pair(128, 8)) << "few rows that do not fill threads";
  EXPECT_EQ(scaled({10, 65000}), std::pair(512, 8)) << "and the more threads the fewer rows";
  EXPECT_EQ(scaled({1024, 16392}), std::pair(512, 1)) << "nor would whole blocks";
  EXPECT_EQ(scaled({256, 32769}).second, 2) << "nothing is prefetched";
}
TEST(MappingTest, PackedRowsWithoutClusters) {
  Machine ampere = kHopper;
  ampere.largest_cluster = 1;
  const tile::Mapping mapping =
      decide(centred_and_scaled({1024, 32768}, DType::f16), ampere).mapping();
  EXPECT_EQ(std::pair(mapping.cluster, mapping.prefetch), std::pair(1, 0));
}
TEST(MappingTest, BlocksOfShortAndMiddleRows) {
  const auto block = [](const Graph& graph) {
    const tile::Mapping mapping = decide(graph).mapping();
    return std::pair{mapping.threads_per_row, mapping.threads};
  };
  EXPECT_EQ(block(sum_beside_cosine({256, 256})), std::pair(64, 128));
  EXPECT_EQ(block(sum_beside_cosine({256, 512})), std::pair(128, 256)) << "two rows";
  EXPECT_EQ(block(sum_beside_cosine({256, 1024})), std::pair(256, 256)) << "few rows";
  EXPECT_EQ(block(sum_beside_cosine({4096, 1024})), std::pair(128, 128));
  EXPECT_EQ(block(reduction({65536, 512}, 1)), std::pair(32, 128));
  EXPECT_EQ(block(reduction({65536, 512}, 1, DType::f16)), std::pair(32, 256));
  EXPECT_EQ(block(centred_and_scaled({8192, 2048}, DType::f16)), std::pair(64, 64));
  EXPECT_EQ(block(centred_and_scaled({8192, 4096}, DType::f16)), std::pair(64, 128));
  for (const std::int64_t length : {4104, 6000, 8192})
    EXPECT_EQ(block(centred_and_scaled({400, length}, DType::f16)), std::pair(256, 256));
}
TEST(MappingTest, RowsThatManyThreadsWouldPadTakeFewer) {
  const auto tile = [](const Graph& graph) {
    const Decision d = decide(graph);
    return std::pair{d.mapping().threads_per_row, d.tiling().tile_cols};
  };
  EXPECT_EQ(tile(softmax({100000, 292}, DType::f16)), std::pair(8, std::int64_t{320}));
  EXPECT_EQ(tile(reduction({100000, 1235}, 1, DType::f16)), std::pair(32, std::int64_t{1280}));
  EXPECT_EQ(tile(sum_beside_cosine({20000, 8819}, DType::f16)),
            std::pair(256, std::int64_t{10240}));
  EXPECT_EQ(tile(softmax({10, 292}, DType::f16)).first, 32) << "few rows";
  EXPECT_EQ(tile(reduction({100000, 1024}, 1, DType::f16)).first, 64) << "exact";
}
TEST(MappingTest, RowsThatAreOnlyReducedHaveManyThreads) {
  EXPECT_EQ(decide(reduction({8192, 4096}, 1)).mapping().threads_per_row, 512);
  EXPECT_EQ(decide(reduction({8192, 8192}, 1)).mapping().threads_per_row, 1024);
  EXPECT_EQ(decide(reduction({128, 4096}, 1)).mapping().threads_per_row, 128) << "few rows";
}

// Besides the prefetch buffer, a block needs double-buffered slots for both reductions.
TEST(MappingTest, LongRowsThatAreOnlyReducedAreStreamed) {
  EXPECT_EQ(decide(reduction({939, 134826}, 1)).family(), "chunked");
  EXPECT_EQ(decide(reduction({939, 65536}, 1)).family(), "row");
  EXPECT_EQ(decide(sum_beside_cosine({939, 134826})).family(), "row") << "elements are stored";
  EXPECT_EQ(decide(softmax({939, 134826})).family(), "row") << "rows are read again";
}

TEST(MappingTest, FetchingLeavesRoomForReductions) {
  const Decision d = decide(softmax({4096, 229376}));
  int fetching = 0;
  for (const Config& config : candidate_configs(d.space, kHopper, false)) {
    const tile::Mapping& mapping = tiling_of(config).mapping;
    if (mapping.prefetch == 0) continue;
    ++fetching;
    const std::int64_t fetched =
        mapping.prefetch * tiling_of(config).tile_cols / mapping.cluster * 4;
    const std::int64_t slots = 2 * 2 * mapping.threads_per_row / 32 * mapping.cluster * 4;
    EXPECT_LE(fetched + slots + 4 * 8, 227 << 10) << to_string(config);
  }
  EXPECT_GT(fetching, 0);
}

// --- tuning candidates --------------------------------------------------------------------------

std::vector<Graph> tuned_graphs() {
  GraphMaker add;
  const Operand x = add.input({2048, 2048});
  const Operand y = add.input({2048, 2048});
  add.output(add.op(Op::add, {x, transposed(y)}));
  GraphMaker bias;
  const Operand z = bias.input({2048, 1000});
  const Operand b = bias.input({1000});
  bias.output(bias.op(Op::add, {z, expanded(b, {2048, 1000})}));
  GraphMaker products;  // too large for a block or a cluster
  Operand product = products.input({8192, 131072}, DType::bf16);
  for (int i = 0; i < 4; ++i)
    product = products.op(Op::mul, {product, products.input({8192, 131072}, DType::bf16)});
  products.output(products.reduce(ReduceKind::sum, product, {1}));
  return {softmax({65536, 128}),
          products.graph,
          softmax({300, 1000}),
          softmax({128, 65536}, DType::bf16),
          reduction({512, 2048}, 0),
          reduction({3, 1 << 21}, 1),
          add.graph,
          bias.graph};
}

TEST(TunedConfigs, BeginWithTheHeuristicsAndHaveNoDuplicates) {
  for (const Graph& graph : tuned_graphs()) {
    const Decision d = decide(graph);
    for (bool same_bits : {false, true}) {
      const std::vector<Config> configs = candidate_configs(d.space, kHopper, same_bits);
      ASSERT_FALSE(configs.empty());
      EXPECT_EQ(configs[0], d.config) << to_string(configs[0]) << "\n" << to_string(d.config);
      for (std::size_t i = 0; i < configs.size(); ++i)
        EXPECT_EQ(std::count(configs.begin(), configs.end(), configs[i]), 1)
            << to_string(configs[i]);
    }
  }
}

TEST(TunedConfigs, AreMappingsThatABlockCanHave) {
  const auto is_power = [](int x) { return std::has_single_bit(static_cast<unsigned>(x)); };
  for (const Graph& graph : tuned_graphs()) {
    const Decision d = decide(graph);
    for (const Config& config : candidate_configs(d.space, kHopper, false)) {
      SCOPED_TRACE(to_string(config));
      const Tiling& tiling = tiling_of(config);
      const tile::Mapping& m = tiling.mapping;
      EXPECT_TRUE(m.threads >= 32 && m.threads <= 1024 && m.threads % 32 == 0);
      EXPECT_TRUE(is_power(m.threads_per_row) && m.threads % m.threads_per_row == 0);
      EXPECT_TRUE(is_power(m.vector) && is_power(m.cluster) &&
                  m.cluster <= kHopper.largest_cluster);
      EXPECT_EQ(tiling.tile_cols % m.vector, 0);
      if (std::holds_alternative<RowConfig>(config)) {
        EXPECT_GE(tiling.tile_cols, d.size(tiling.col_axis)) << "a row is held whole";
      }
    }
  }
}

TEST(TunedConfigs, WithTheSameBitsKeepTheOrderOfAdditions) {
  const Decision d = decide(softmax({65536, 128}));
  const auto all = candidate_configs(d.space, kHopper, false);
  const auto same = candidate_configs(d.space, kHopper, true);
  EXPECT_GT(same.size(), 1u) << "rows a block, for one, can differ";
  EXPECT_LT(same.size(), all.size());
  for (const Config& config : same) {
    EXPECT_EQ(std::count(all.begin(), all.end(), config), 1);
    EXPECT_EQ(config.index(), d.config.index());
    EXPECT_EQ(tiling_of(config).tile_cols, d.tiling().tile_cols);
    EXPECT_EQ(tiling_of(config).mapping.threads_per_row, d.mapping().threads_per_row);
    EXPECT_EQ(tiling_of(config).mapping.vector, d.mapping().vector);
    EXPECT_EQ(tiling_of(config).mapping.cluster, d.mapping().cluster);
  }
}

TEST(TunedConfigs, OfPointwiseWorkAllHaveTheSameBits) {
  const Decision d = decide(tuned_graphs().back());
  EXPECT_EQ(candidate_configs(d.space, kHopper, true), candidate_configs(d.space, kHopper, false));
}

}  // namespace
}  // namespace sinter
