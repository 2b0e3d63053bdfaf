// The space two groups share: equal axes, kept axes, and axes split for a reshape.
#include "src/fuse/group_space.h"

#include <gtest/gtest.h>

namespace sinter {
namespace {

constexpr GroupAxis r(std::int64_t size) { return {size, true}; }
constexpr GroupAxis k(std::int64_t size) { return {size, false}; }

using Lists = ByAxis<AxisList>;

JointSpace joined(const GroupAxes& a, const GroupAxes& b) {
  const SpaceVerdict verdict = join_spaces(a, b, SplitAxes::yes);
  EXPECT_TRUE(verdict.space) << verdict.refusal;
  return verdict.space.value_or(JointSpace{});
}

std::string refusal(const GroupAxes& a, const GroupAxes& b, SplitAxes split = SplitAxes::yes) {
  return join_spaces(a, b, split).refusal;
}

TEST(GroupSpaceTest, EqualAxesStayAsTheyAre) {
  const JointSpace joint = joined({k(4), r(6)}, {k(4), r(6)});
  EXPECT_EQ(joint.axes, (GroupAxes{k(4), r(6)}));
  EXPECT_TRUE(is_identity(joint.from_a) && is_identity(joint.from_b));
}

TEST(GroupSpaceTest, AGroupThatReducesNothingTakesAllAxesOrTheKeptOnes) {
  EXPECT_TRUE(is_identity(joined({k(4), r(6)}, {k(4), k(6)}).from_b));
  EXPECT_EQ(joined({k(4), r(6)}, {k(4)}).from_b, (Lists{{0}}));
  const JointSpace joint = joined({k(4), k(5)}, {k(4), r(6), k(5)});
  EXPECT_EQ(joint.axes, (GroupAxes{k(4), r(6), k(5)}));
  EXPECT_EQ(joint.from_a, (Lists{{0}, {2}}));
  EXPECT_TRUE(is_identity(joint.from_b));
}

// (2, 3 groups of 4 channels with 25 pixels) and (2, 12 channels, 25 pixels).
TEST(GroupSpaceTest, AxesAreSplitWhereShapesOverlap) {
  const JointSpace joint = joined({k(2), k(3), r(100)}, {k(2), k(12), k(25)});
  EXPECT_EQ(joint.axes, (GroupAxes{k(2), k(3), r(4), r(25)}));
  EXPECT_EQ(joint.from_a, (Lists{{0}, {1}, {2, 3}}));
  EXPECT_EQ(joint.from_b, (Lists{{0}, {1, 2}, {3}}));
}

TEST(GroupSpaceTest, KeptAxesAreSplitToo) {
  const JointSpace joint = joined({k(6), r(5)}, {k(2), k(3)});
  EXPECT_EQ(joint.axes, (GroupAxes{k(2), k(3), r(5)}));
  EXPECT_EQ(joint.from_a, (Lists{{0, 1}, {2}}));
  EXPECT_EQ(joint.from_b, (Lists{{0}, {1}}));
}

TEST(GroupSpaceTest, BothMayReduceIfTheyReduceTheSameElements) {
  EXPECT_EQ(joined({k(6), r(20)}, {k(2), k(3), r(4), r(5)}).axes,
            (GroupAxes{k(2), k(3), r(4), r(5)}));
  EXPECT_EQ(refusal({k(6), r(20)}, {k(2), r(3), r(4), r(5)}),
            "they reduce over different shapes: (6, 20) and (2, 3, 4, 5)");
  EXPECT_EQ(refusal({k(4), r(6)}, {r(4), k(6)}), "one reduces over axes 1, the other over axes 0");
}

TEST(GroupSpaceTest, SizesThatDoNotDivideEachOtherAreRefused) {
  EXPECT_EQ(refusal({k(4), k(6)}, {k(6), k(4)}), "they walk different shapes: (4, 6) and (6, 4)");
  EXPECT_EQ(refusal({k(4)}, {k(5)}), "they walk different shapes: (4) and (5)");
  EXPECT_EQ(refusal({k(0), k(3)}, {k(0)}), "they walk different shapes: (0, 3) and (0)");
}

TEST(GroupSpaceTest, NothingIsSplitUnlessAsked) {
  EXPECT_NE(refusal({k(6)}, {k(2), k(3)}, SplitAxes::no), "");
  EXPECT_EQ(refusal({k(6)}, {k(2), k(3)}, SplitAxes::yes), "");
}

TEST(GroupSpaceTest, AxesOfOneElementAreNoObstacle) {
  const JointSpace joint = joined({k(4), k(1), r(6)}, {k(1), k(4), k(6), k(1)});
  EXPECT_EQ(joint.axes, (GroupAxes{k(4), k(1), r(6)}));
  EXPECT_EQ(joint.from_b, (Lists{{}, {0}, {2}, {}}));
  EXPECT_NE(refusal({k(4), r(1)}, {k(2), k(2), r(1)}), "") << "no reduced axis would be left";
}

TEST(GroupSpaceTest, StridesFollowTheSplit) {
  const GroupAxes axes{k(2), k(3), r(4), r(25)};
  const AxisList channels{0, 1, 2, 3};
  EXPECT_EQ(strides_along({{2, 12, 25}, {0, 1, 0}, 0}, channels, axes),
            (ByAxis<std::int64_t>{0, 4, 1, 0}))
      << "one weight for each channel";
  EXPECT_EQ(strides_along(dense_view({2, 3}), {0, 1}, axes), (ByAxis<std::int64_t>{3, 1, 0, 0}));
  EXPECT_EQ(dense_strides({0, 1}, axes), (ByAxis<std::int64_t>{3, 1, 0, 0}));
}

}  // namespace
}  // namespace sinter
