// How tiles lie on threads: what each holds, and where threads stand outside.
#include "src/codegen/cuda/layout.h"

#include <gtest/gtest.h>
#include <sinter/error.h>

#include "src/tile/builder.h"

namespace sinter {
namespace {

using tile::Axis;
using tile::Mapping;
using tile::TileProgram;

// A program whose widest tile has that many columns.
TileProgram program_of(std::int64_t cols, const Mapping& mapping) {
  tile::Builder b("layout");
  const int y = b.add_buffer("y", DType::i64, true);
  const tile::ValueId at = b.arange(Axis::cols, cols);
  b.store(y, at, at, tile::kNoValue);
  b.set_mapping(mapping);
  return b.finish();
}

CudaLayout layout_of(std::int64_t cols, const Mapping& mapping) {
  return CudaLayout(program_of(cols, mapping));
}

TEST(CudaLayoutTest, ThreadsStandSideBySideThenInRows) {
  const CudaLayout layout =
      layout_of(256, {.threads = 128, .threads_per_row = 32, .vector = 4, .cluster = 1});
  EXPECT_EQ(layout.thread_rows(), 4);
  EXPECT_EQ(layout.col_steps({16, 256}), 2);
  EXPECT_EQ(layout.row_steps({16, 256}), 4);
  EXPECT_EQ(layout.elements({16, 256}), 4 * 2 * 4);
  EXPECT_TRUE(layout.cols_exact({16, 256}));
  EXPECT_TRUE(layout.rows_exact({16, 256}));
}

TEST(CudaLayoutTest, WhatHasOneColumnOrOneRowIsHeldAlike) {
  const CudaLayout layout =
      layout_of(128, {.threads = 128, .threads_per_row = 32, .vector = 4, .cluster = 1});
  EXPECT_EQ(layout.elements({16, 1}), 4);
  EXPECT_EQ(layout.elements({1, 128}), 4);
  EXPECT_EQ(layout.elements({1, 1}), 1);
  EXPECT_TRUE(layout.rows_exact({1, 128}));
  EXPECT_TRUE(layout.cols_exact({16, 1}));
}

TEST(CudaLayoutTest, ThreadsMayStandOutside) {
  const CudaLayout layout =
      layout_of(96, {.threads = 128, .threads_per_row = 64, .vector = 2, .cluster = 1});
  EXPECT_EQ(layout.col_steps({3, 96}), 1);
  EXPECT_FALSE(layout.cols_exact({3, 96}));
  EXPECT_FALSE(layout.rows_exact({3, 96})) << "three rows on two rows of threads";
  EXPECT_EQ(layout.row_steps({3, 96}), 2);
}

TEST(CudaLayoutTest, AClusterSharesTheColumns) {
  const CudaLayout layout =
      layout_of(4096, {.threads = 128, .threads_per_row = 128, .vector = 4, .cluster = 4});
  EXPECT_EQ(layout.col_steps({1, 4096}), 2);
  EXPECT_TRUE(layout.cols_exact({1, 4096}));
  EXPECT_FALSE(layout.cols_exact({1, 2560}));
}

TEST(CudaLayoutTest, VectorsAreCutToWhatDividesEveryTile) {
  EXPECT_EQ(layout_of(100, {.threads = 32, .threads_per_row = 32, .vector = 8}).vector(), 4);
  EXPECT_EQ(layout_of(33, {.threads = 32, .threads_per_row = 32, .vector = 8}).vector(), 1);
  EXPECT_EQ(layout_of(1, {.threads = 32, .threads_per_row = 32, .vector = 8}).vector(), 8)
      << "one column is no vector";
}

TEST(CudaLayoutTest, WithoutAMappingTheRendererHasOne) {
  const CudaLayout layout = layout_of(20, {.wide_index = false});
  EXPECT_EQ(layout.mapping().threads, 128);
  EXPECT_EQ(layout.threads_per_row(), 32);
  EXPECT_EQ(layout.vector(), 1);
  EXPECT_FALSE(layout.mapping().wide_index) << "that is the program's";
}

TEST(CudaLayoutTest, WhatNoBlockCanHaveIsRefused) {
  EXPECT_THROW(layout_of(32, {.threads = 33, .threads_per_row = 1}), InternalError);
  EXPECT_THROW(layout_of(32, {.threads = 2048, .threads_per_row = 32}), InternalError);
  EXPECT_THROW(layout_of(32, {.threads = 96, .threads_per_row = 64}), InternalError);
  EXPECT_THROW(layout_of(32, {.threads = 96, .threads_per_row = 48}), InternalError);
  EXPECT_THROW(layout_of(32, {.threads = 32, .threads_per_row = 32, .vector = 3}), InternalError);
}

}  // namespace
}  // namespace sinter
