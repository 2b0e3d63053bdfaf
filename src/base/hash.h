// A 128-bit content hash for cache keys and checksums. Fast and well mixed, not cryptographic: it
// protects against accidents, not against someone with write access to the cache.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sinter {

struct Hash128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  std::string hex() const;  // 32 lower-case digits
  friend auto operator<=>(const Hash128&, const Hash128&) = default;
};

// For unordered containers; the bits are already mixed.
struct Hash128Hasher {
  std::size_t operator()(const Hash128& hash) const { return hash.low; }
};

// Hashes a sequence of pieces: two 64-bit lanes, each fed 16 bytes per step through a folded
// 64x64 -> 128 bit multiplication. Lengths count: ("ab", "c") differs from ("a", "bc").
class Hasher {
 public:
  Hasher& add(std::string_view bytes);
  Hasher& add(std::uint64_t number) {
    mix(number, 0);
    return *this;
  }
  Hasher& add(const Hash128& hash) {
    mix(hash.high, hash.low);
    return *this;
  }
  Hash128 finish() const;

 private:
  void mix(std::uint64_t a, std::uint64_t b) {
    // A fold alone loses all information when one factor is 0, so the inputs are also added around
    // it.
    const std::uint64_t x = fold(x_ ^ a, b ^ kOddA) + ((y_ << 23) | (y_ >> 41)) + a;
    const std::uint64_t y = fold(y_ ^ b, a ^ kOddB) + ((x_ << 37) | (x_ >> 27)) + b;
    x_ = x;
    y_ = y;
  }
  static std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }

  static constexpr std::uint64_t kOddA = 0xa0761d6478bd642f;
  static constexpr std::uint64_t kOddB = 0xe7037ed1a0b428db;

  std::uint64_t x_ = 0x9e3779b97f4a7c15;
  std::uint64_t y_ = 0xc2b2ae3d27d4eb4f;
};

Hash128 hash_bytes(std::string_view bytes);

}  // namespace sinter
