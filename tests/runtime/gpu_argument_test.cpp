#include "src/runtime/gpu_argument.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

namespace sinter {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();

// The division as kernels do it (kernels/cuda/math.cuh).
std::uint32_t quotient(std::uint32_t number, std::uint64_t inverse) {
  const auto high = static_cast<std::uint32_t>(inverse >> 32);
  const std::uint64_t product = std::uint64_t{number} * static_cast<std::uint32_t>(inverse);
  return (static_cast<std::uint32_t>(product >> 32) + ((high & 1) != 0 ? number : 0)) >>
         (high >> 8);
}

TEST(CudaInverse, GivesTheQuotientOfEveryNumberOfPrograms) {
  std::mt19937_64 random(3);
  std::vector<std::int64_t> divisors{kMost, kMost - 1, (1 << 30) - 1, 1 << 30, (1 << 30) + 1};
  for (std::int64_t d = 1; d <= 300; ++d) divisors.push_back(d);
  for (int i = 0; i < 300; ++i)
    divisors.push_back(static_cast<std::int64_t>(random() >> (33 + i % 30)) + 1);
  for (const std::int64_t d : divisors) {
    const std::uint64_t inverse = gpu_inverse(d, kMost);
    const auto check = [&](std::int64_t n) {
      if (n < 0 || n > kMost) return;
      ASSERT_EQ(quotient(static_cast<std::uint32_t>(n), inverse), n / d) << n << " / " << d;
    };
    for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, kMost - 1, kMost}) check(n);
    for (int i = 0; i < 200; ++i) {  // next to multiples, where rounding errors show
      const std::int64_t multiple = static_cast<std::int64_t>(random() % (kMost / d + 1)) * d;
      for (const std::int64_t n : {multiple - 1, multiple, multiple + 1}) check(n);
    }
    check(kMost / d * d - 1);
    check(kMost / d * d);
  }
}

TEST(CudaInverse, SaysWhereThereIsNone) {
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  EXPECT_EQ(gpu_inverse(0, 5), kNone);
  EXPECT_EQ(gpu_inverse(-3, 5), kNone);
  EXPECT_EQ(gpu_inverse(kMost + 1, 5), kNone);
  EXPECT_EQ(gpu_inverse(7, kMost + 1), kNone) << "programs beyond 31 bits";
  EXPECT_EQ(gpu_inverse(kMost, kMost) >> 63, 0U);
}

TEST(CudaArgument, HasAddressesScalarsTheNumberOfProgramsAndInverses) {
  float x = 0;
  const std::vector<tile::BufferBinding> buffers{{&x, 1}};
  const std::vector<std::int64_t> scalars{-4, 12};
  const std::vector<int> divisors{1};
  GpuWords words;  // NOLINT: unwritten words are not read
  ASSERT_EQ(pack_gpu_words(buffers, scalars, 24, divisors, words), 5U);
  EXPECT_EQ(words[0], reinterpret_cast<std::uintptr_t>(&x));
  EXPECT_EQ(static_cast<std::int64_t>(words[1]), -4);
  EXPECT_EQ(words[2], 12U);
  EXPECT_EQ(words[3], 24U);
  EXPECT_EQ(words[4], gpu_inverse(12, 24));
}

}  // namespace
}  // namespace sinter
