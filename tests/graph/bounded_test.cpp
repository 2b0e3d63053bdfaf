// Bounds of sums: a bound that always holds, and a much narrower one for typical sums. Random
// programs of tests/fuzz/ test everything else about Bounded.
#include "src/graph/bounded.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace sinter::bounded {
namespace {

std::vector<Bounded> elements_of(const std::vector<float>& numbers) {
  std::vector<Bounded> elements;
  for (const float x : numbers) elements.push_back(Bounded::real(static_cast<double>(x)));
  return elements;
}

Bounded sum(const std::vector<float>& numbers, SumBound bound) {
  return reduce(ReduceKind::sum, DType::f32, DType::f32, elements_of(numbers), bound);
}

// Sums like kernels: `lanes` partial sums in parallel, combined at the end.
float summed(const std::vector<float>& numbers, std::size_t lanes) {
  std::vector<float> sums(lanes);
  for (std::size_t i = 0; i < numbers.size(); ++i) sums[i % lanes] += numbers[i];
  float total = 0;
  for (const float x : sums) total += x;
  return total;
}

std::vector<float> normal_numbers(std::size_t count, float mean) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal(mean, 1);
  std::vector<float> numbers(count);
  for (float& x : numbers) x = normal(random);
  return numbers;
}

TEST(BoundedSums, TypicalBoundsHoldForEveryNumberOfLanes) {
  for (const float mean : {0.0f, 0.1f, 3.0f})
    for (const std::size_t count : {10u, 1000u, 30000u}) {
      const std::vector<float> numbers = normal_numbers(count, mean);
      const Bounded want = sum(numbers, SumBound::typical);
      ASSERT_TRUE(want.known()) << mean << " " << count;
      for (const std::size_t lanes : {1u, 8u, 64u})
        EXPECT_TRUE(agrees(want, static_cast<double>(summed(numbers, lanes))))
            << mean << " " << count << " " << lanes;
    }
}

TEST(BoundedSums, TypicalBoundsAreFarNarrower) {
  const std::vector<float> numbers = normal_numbers(1000, 3);
  const Bounded always = sum(numbers, SumBound::always);
  const Bounded typical = sum(numbers, SumBound::typical);
  ASSERT_TRUE(always.known() && typical.known());
  EXPECT_EQ(typical.value, always.value);
  EXPECT_LT(typical.error, always.error / 5);
  EXPECT_FALSE(sum(normal_numbers(30000, 3), SumBound::always).known());
  EXPECT_TRUE(sum(normal_numbers(30000, 3), SumBound::typical).known());
}

TEST(BoundedSums, ExactSumsHaveNoError) {
  const std::vector<float> numbers(5000, 0.25f);
  EXPECT_EQ(sum(numbers, SumBound::typical).error, 0);
  EXPECT_EQ(sum(numbers, SumBound::typical).value, 1250);
}

}  // namespace
}  // namespace sinter::bounded
