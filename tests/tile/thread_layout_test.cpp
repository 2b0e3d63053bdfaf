// How tiles map to threads: elements per thread, threads outside the tile, and exchange slots.
#include "src/tile/thread_layout.h"

#include <gtest/gtest.h>

namespace sinter::tile {
namespace {

TEST(ThreadLayoutTest, ThreadsStandSideBySideThenInRows) {
  const ThreadLayout layout({.threads = 128, .threads_per_row = 32, .vector = 4, .cluster = 1});
  EXPECT_EQ(layout.thread_rows(), 4);
  EXPECT_EQ(layout.col_steps({16, 256}), 2);
  EXPECT_EQ(layout.row_steps({16, 256}), 4);
  EXPECT_EQ(layout.elements({16, 256}), 4 * 2 * 4);
  EXPECT_TRUE(layout.cols_exact({16, 256}));
  EXPECT_TRUE(layout.rows_exact({16, 256}));
}

TEST(ThreadLayoutTest, SingleRowsAndColumnsAreReplicated) {
  const ThreadLayout layout({.threads = 128, .threads_per_row = 32, .vector = 4, .cluster = 1});
  EXPECT_EQ(layout.elements({16, 1}), 4);
  EXPECT_EQ(layout.elements({1, 128}), 4);
  EXPECT_EQ(layout.elements({1, 1}), 1);
  EXPECT_TRUE(layout.rows_exact({1, 128}));
  EXPECT_TRUE(layout.cols_exact({16, 1}));
}

TEST(ThreadLayoutTest, ThreadsMayStandOutside) {
  const ThreadLayout layout({.threads = 128, .threads_per_row = 64, .vector = 2, .cluster = 1});
  EXPECT_EQ(layout.col_steps({3, 96}), 1);
  EXPECT_FALSE(layout.cols_exact({3, 96}));
  EXPECT_FALSE(layout.rows_exact({3, 96})) << "three rows on two rows of threads";
  EXPECT_EQ(layout.row_steps({3, 96}), 2);
}

TEST(ThreadLayoutTest, AClusterSharesTheColumns) {
  const ThreadLayout layout({.threads = 128, .threads_per_row = 128, .vector = 4, .cluster = 4});
  EXPECT_EQ(layout.col_steps({1, 4096}), 2);
  EXPECT_TRUE(layout.cols_exact({1, 4096}));
  EXPECT_FALSE(layout.cols_exact({1, 2560}));
}

TEST(ThreadLayoutTest, ABlockHoldsWholeStepsOfATile) {
  const ThreadLayout layout({.threads = 128, .threads_per_row = 64, .vector = 4, .cluster = 2});
  EXPECT_EQ(layout.block_bytes({2, 512}, 4), 128 * 4 * 4);
  EXPECT_EQ(layout.block_bytes({3, 600}, 2), 128 * (2 * 2 * 4) * 2) << "two steps of each";
}

TEST(ThreadLayoutTest, RowsOfMoreThanAWarpNeedASlotForEachWarp) {
  EXPECT_FALSE(ThreadLayout({.threads = 128, .threads_per_row = 32}).needs_slots());
  EXPECT_EQ(ThreadLayout({.threads = 128, .threads_per_row = 32}).slots({4, 32}), 0);
  const ThreadLayout wide({.threads = 256, .threads_per_row = 128});
  EXPECT_TRUE(wide.needs_slots());
  EXPECT_EQ(wide.slots({4, 128}), 4 * 4);
  EXPECT_EQ(wide.slots({3, 128}), 4 * 4) << "rows of threads that stand outside have theirs";
  const ThreadLayout shared(
      {.threads = 32, .threads_per_row = 32, .vector = 1, .cluster = 4, .prefetch = 1});
  EXPECT_EQ(shared.slots({1, 128}), 4) << "one of every block";
  EXPECT_EQ(shared.slot_turns(), 2);
  EXPECT_EQ(wide.slot_turns(), 1);
}

}  // namespace
}  // namespace sinter::tile
