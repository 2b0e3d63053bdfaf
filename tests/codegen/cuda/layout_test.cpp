// The threads a kernel is launched with, and mappings that cannot be launched.
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

tile::ThreadLayout layout_of(std::int64_t cols, const Mapping& mapping) {
  return cuda_layout(program_of(cols, mapping));
}

TEST(CudaLayoutTest, VectorWidthsDivideEveryTile) {
  EXPECT_EQ(layout_of(100, {.threads = 32, .threads_per_row = 32, .vector = 8}).vector(), 4);
  EXPECT_EQ(layout_of(33, {.threads = 32, .threads_per_row = 32, .vector = 8}).vector(), 1);
  EXPECT_EQ(layout_of(1, {.threads = 32, .threads_per_row = 32, .vector = 8}).vector(), 8)
      << "one column is no vector";
}

TEST(CudaLayoutTest, WithoutAMappingTheRendererHasOne) {
  const tile::ThreadLayout layout = layout_of(20, {.wide_index = false});
  EXPECT_EQ(layout.mapping().threads, 128);
  EXPECT_EQ(layout.threads_per_row(), 32);
  EXPECT_EQ(layout.vector(), 1);
  EXPECT_FALSE(layout.mapping().wide_index) << "that is the program's";
}

TEST(CudaLayoutTest, MappingsBeyondABlocksLimitsAreRefused) {
  EXPECT_THROW(layout_of(32, {.threads = 33, .threads_per_row = 1}), InternalError);
  EXPECT_THROW(layout_of(32, {.threads = 2048, .threads_per_row = 32}), InternalError);
  EXPECT_THROW(layout_of(32, {.threads = 96, .threads_per_row = 64}), InternalError);
  EXPECT_THROW(layout_of(32, {.threads = 96, .threads_per_row = 48}), InternalError);
  EXPECT_THROW(layout_of(32, {.threads = 32, .threads_per_row = 32, .vector = 3}), InternalError);
}

}  // namespace
}  // namespace sinter
