// The memory of a TileCase, and the comparison of two executors' results: for tests that run one
// program several ways.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "src/tile/interpreter.h"
#include "tests/codegen/tile_programs.h"

namespace sinter {

inline void PrintTo(const TileCase& tile_case, std::ostream* out) { *out << tile_case.name; }

inline std::string name_of_case(const testing::TestParamInfo<TileCase>& info) {
  return info.param.name;
}

inline constexpr std::size_t kGuard = 256;  // bytes on either side of a buffer
inline constexpr auto kGuardByte = std::byte{0x5a};

// The case's buffers, each in its own block, `shift` bytes after a multiple of 16.
struct Memory {
  std::vector<std::vector<std::byte>> blocks;
  std::vector<tile::BufferBinding> bindings;
  std::size_t before;  // bytes

  explicit Memory(const TileCase& c, std::size_t shift = 0) : before(kGuard + shift) {
    for (const TestBuffer& buffer : c.buffers) {
      std::vector<std::byte> block(before, kGuardByte);
      const auto bytes = testing_support::to_bytes(buffer.start, buffer.dtype);
      block.insert(block.end(), bytes.begin(), bytes.end());
      block.insert(block.end(), kGuard, kGuardByte);
      blocks.push_back(std::move(block));
    }
    for (std::size_t i = 0; i < blocks.size(); ++i)
      bindings.push_back(
          {blocks[i].data() + before, static_cast<std::int64_t>(c.buffers[i].start.size())});
  }
  std::vector<std::byte> bytes(std::size_t i) const {
    return {blocks[i].begin() + static_cast<std::ptrdiff_t>(before), blocks[i].end() - kGuard};
  }
  bool guards_hold(std::size_t i) const {
    const auto is_guard = [](std::byte b) { return b == kGuardByte; };
    const std::vector<std::byte>& block = blocks[i];
    return std::all_of(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(before),
                       is_guard) &&
           std::all_of(block.end() - kGuard, block.end(), is_guard);
  }
};

// All NaNs compare equal: their bits depend on the processor.
inline void expect_same(const TileCase& c, std::size_t i, const Memory& actual,
                        const Memory& oracle) {
  EXPECT_TRUE(actual.guards_hold(i)) << "memory around buffer " << i << " was written";
  const DType dtype = c.buffers[i].dtype;
  const auto a = testing_support::to_numbers(actual.bytes(i), dtype);
  const auto e = testing_support::to_numbers(oracle.bytes(i), dtype);
  for (std::size_t k = 0; k < e.size(); ++k) {
    if (std::isnan(e[k]) ? std::isnan(a[k])
                         : a[k] == e[k] && std::signbit(a[k]) == std::signbit(e[k]))
      continue;
    ASSERT_TRUE(is_floating(dtype) && std::abs(a[k] - e[k]) <= c.bound * (1 + std::abs(e[k])))
        << "buffer " << i << " element " << k << ": " << a[k] << ", the interpreter has " << e[k];
  }
}

}  // namespace sinter
