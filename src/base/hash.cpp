// The last short block is zero-padded; the length is hashed first, so padding is unambiguous.
#include "src/base/hash.h"

#include <array>
#include <cstring>

namespace sinter {
namespace {

// A bijection of 64 bits in which every input bit reaches every output bit.
std::uint64_t avalanche(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

std::string Hash128::hex() const {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text(32, '0');
  for (int i = 0; i < 16; ++i) {
    text[static_cast<std::size_t>(15 - i)] = kDigits[(high >> (4 * i)) & 15];
    text[static_cast<std::size_t>(31 - i)] = kDigits[(low >> (4 * i)) & 15];
  }
  return text;
}

Hasher& Hasher::add(std::string_view bytes) {
  mix(bytes.size(), kOddB);
  std::array<std::uint64_t, 2> block{};
  while (bytes.size() >= sizeof(block)) {
    std::memcpy(block.data(), bytes.data(), sizeof(block));
    mix(block[0], block[1]);
    bytes.remove_prefix(sizeof(block));
  }
  if (!bytes.empty()) {
    block = {};
    std::memcpy(block.data(), bytes.data(), bytes.size());
    mix(block[0], block[1]);
  }
  return *this;
}

Hash128 Hasher::finish() const {
  Hasher last = *this;
  last.mix(kOddA, kOddB);
  last.mix(kOddB, kOddA);
  return {avalanche(last.x_ + kOddA), avalanche(last.y_ ^ (last.x_ << 32))};
}

Hash128 hash_bytes(std::string_view bytes) { return Hasher().add(bytes).finish(); }

}  // namespace sinter
