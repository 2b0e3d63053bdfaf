// Rounding up, at and beside multiples.
#include "src/base/rounding.h"

#include <gtest/gtest.h>

namespace sinter {
namespace {

TEST(Rounding, GoesUpBetweenMultiples) {
  EXPECT_EQ(ceil_div(0, 4), 0);
  EXPECT_EQ(ceil_div(1, 4), 1);
  EXPECT_EQ(ceil_div(8, 4), 2);
  EXPECT_EQ(ceil_div(9, 4), 3);
  EXPECT_EQ(round_up(0, 512), 0u);
  EXPECT_EQ(round_up(512, 512), 512u);
  EXPECT_EQ(round_up(513, 512), 1024u);
}

}  // namespace
}  // namespace sinter
