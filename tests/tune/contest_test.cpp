// Decisions of a contest, and the comparison of results.
#include "src/tune/contest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "src/tune/result_check.h"

namespace sinter {
namespace {

class ListedTimes : public Stopwatch {
 public:
  double time(const std::function<void()>& run, int) override {
    run();
    return next_us;
  }
  void wait() override {}
  bool resolves_single_calls() const override { return true; }
  double next_us = 0;
};

Contest contest(double champion_us, double challenger_us, int rounds) {
  ListedTimes clock;
  return hold_contest([&] { clock.next_us = champion_us; }, [&] { clock.next_us = challenger_us; },
                      rounds, clock);
}

TEST(ContestTest, SamplesGoToWhoTookThem) {
  for (int rounds : {1, 2, 3, 4, 15}) {
    const Contest result = contest(100, 80, rounds);
    EXPECT_DOUBLE_EQ(result.champion_us, 100) << rounds;
    EXPECT_DOUBLE_EQ(result.challenger_us, 80) << rounds;
    EXPECT_DOUBLE_EQ(result.ratio, 0.8) << rounds;
    EXPECT_TRUE(result.is_won()) << rounds;
  }
}

TEST(ContestTest, TwoPercentAreNotEnough) {
  EXPECT_FALSE(contest(100, 98.5, 15).is_won());
  EXPECT_TRUE(contest(100, 97, 15).is_won());
  EXPECT_FALSE(contest(100, 120, 15).is_won());
}

TEST(ContestTest, AClockThatShowsNothingDecidesNothing) {
  EXPECT_FALSE(contest(0, 0, 15).is_won());
}

TEST(ContestTest, IsStoppedWhereItIsHopeless) {
  EXPECT_TRUE(contest(100, 151, 15).stopped);
  EXPECT_FALSE(contest(100, 149, 15).stopped);
}

template <typename T>
bool near(std::vector<T> a, std::vector<T> b, DType dtype) {
  return nearly_equal(std::as_bytes(std::span(a)), std::as_bytes(std::span(b)), dtype);
}

TEST(NearlyEqual, FloatsMayDifferByAnotherOrderOfAdditions) {
  EXPECT_TRUE(near<float>({1, 2, 3}, {1, 2, 3.00003f}, DType::f32));
  EXPECT_FALSE(near<float>({1, 2, 3}, {1, 2, 3.01f}, DType::f32));
  EXPECT_TRUE(near<double>({1, 2}, {1, 2 + 1e-12}, DType::f64));
  EXPECT_FALSE(near<double>({1, 2}, {1, 2 + 1e-6}, DType::f64));
  EXPECT_TRUE(near<std::uint16_t>({0x3c00, 0x4000}, {0x3c01, 0x4000}, DType::f16));
  EXPECT_FALSE(near<std::uint16_t>({0x3c00, 0x4000}, {0x3c20, 0x4000}, DType::f16));
  EXPECT_TRUE(near<std::uint16_t>({0x3f80, 0x4000}, {0x3f81, 0x4000}, DType::bf16));
  EXPECT_FALSE(near<std::uint16_t>({0x3f80, 0x4000}, {0x3f90, 0x4000}, DType::bf16));
}

TEST(NearlyEqual, IntegersMayNot) {
  EXPECT_FALSE(near<std::int64_t>({1'000'000'000}, {1'000'000'001}, DType::i64));
  EXPECT_TRUE(near<std::int32_t>({7}, {7}, DType::i32));
}

TEST(NearlyEqual, NanAndInfinitiesEqualThemselvesAlone) {
  const float nan = std::nanf("");
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(near<float>({nan, 1, 5}, {-nan, 1, 5.0001f}, DType::f32));
  EXPECT_FALSE(near<float>({nan, 1}, {2, 1}, DType::f32));
  EXPECT_FALSE(near<float>({2, 1}, {nan, 1}, DType::f32));
  EXPECT_TRUE(near<float>({inf, 1, 5}, {inf, 1, 5.0001f}, DType::f32));
  EXPECT_FALSE(near<float>({inf, 1}, {-inf, 1}, DType::f32));
  EXPECT_FALSE(near<float>({3e38f, 1}, {inf, 1}, DType::f32));
  EXPECT_FALSE(near<float>({inf, 1}, {3e38f, 1}, DType::f32));
}

}  // namespace
}  // namespace sinter
