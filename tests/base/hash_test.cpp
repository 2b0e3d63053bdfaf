// The content hash: stable, unambiguous about pieces, without collisions among close neighbours.
#include "src/base/hash.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <string>

namespace sinter {
namespace {

TEST(HashTest, HexHasThirtyTwoDigits) {
  EXPECT_EQ((Hash128{0x0123456789abcdef, 0xf}.hex()), "0123456789abcdef000000000000000f");
}

TEST(HashTest, SameBytesSameHash) {
  EXPECT_EQ(hash_bytes("sinter"), hash_bytes(std::string("sin") + "ter"));
  EXPECT_NE(hash_bytes("sinter"), hash_bytes("sinteR"));
}

TEST(HashTest, PiecesAreToldApart) {
  EXPECT_NE(Hasher().add("ab").add("c").finish(), Hasher().add("a").add("bc").finish());
  EXPECT_NE(Hasher().add("").add("a").finish(), Hasher().add("a").finish());
  EXPECT_NE(Hasher().add("a").add("").finish(), Hasher().add("a").finish());
  EXPECT_NE(hash_bytes(std::string(1, '\0')), hash_bytes(std::string(2, '\0')));
  EXPECT_NE(Hasher().add(std::uint64_t{1}).add(std::uint64_t{2}).finish(),
            Hasher().add(std::uint64_t{2}).add(std::uint64_t{1}).finish());
}

TEST(HashTest, FinishLeavesTheHasherAsItWas) {
  Hasher hasher;
  hasher.add("a");
  const Hash128 first = hasher.finish();
  EXPECT_EQ(hasher.finish(), first);
  hasher.add("b");
  EXPECT_EQ(hasher.finish(), Hasher().add("a").add("b").finish());
}

TEST(HashTest, AllLengthsOfZerosDiffer) {
  std::set<Hash128> seen;
  for (std::size_t n = 0; n < 2000; ++n)
    ASSERT_TRUE(seen.insert(hash_bytes(std::string(n, '\0'))).second) << n;
}

TEST(HashTest, SmallNumbersDoNotCollideInEitherHalf) {
  std::set<std::uint64_t> high;
  std::set<std::uint64_t> low;
  for (std::uint64_t a = 0; a < 300; ++a)
    for (std::uint64_t b = 0; b < 300; ++b) {
      const Hash128 hash = Hasher().add(a).add(b).finish();
      ASSERT_TRUE(high.insert(hash.high).second) << a << " " << b;
      ASSERT_TRUE(low.insert(hash.low).second) << a << " " << b;
    }
}

TEST(HashTest, EveryInputBitReachesAboutHalfTheOutputBits) {
  const std::string text(40, 'x');
  const Hash128 base = hash_bytes(text);
  for (std::size_t bit = 0; bit < text.size() * 8; ++bit) {
    std::string flipped = text;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    const Hash128 hash = hash_bytes(flipped);
    const int changed = std::popcount(hash.high ^ base.high) + std::popcount(hash.low ^ base.low);
    EXPECT_GT(changed, 30) << "bit " << bit;
    EXPECT_LT(changed, 98) << "bit " << bit;
  }
}

}  // namespace
}  // namespace sinter
