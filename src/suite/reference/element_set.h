// ElementSet: some of a node's elements, by their row-major positions, numbered in ascending order.
// Memory grows with the elements in it, not with the node.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>

#include "src/base/by_id.h"

namespace sinter::suite {

class ElementSet {
 public:
  ElementSet() = default;
  explicit ElementSet(std::int64_t size)
      : blocks_(static_cast<std::size_t>((size + kBlock - 1) / kBlock)) {}

  void insert(std::int64_t position) {
    std::unique_ptr<Block>& block = blocks_[position / kBlock];
    if (!block) block = std::make_unique<Block>();
    std::uint64_t& word = block->words[word_of(position)];
    count_ += (word & bit_of(position)) == 0 ? 1 : 0;
    word |= bit_of(position);
  }
  std::int64_t count() const { return count_; }

  // Numbers the elements; none may be inserted afterwards.
  void number() {
    std::int64_t next = 0;
    for (const std::unique_ptr<Block>& block : blocks_) {
      if (!block) continue;
      for (std::size_t i = 0; i < kWords; ++i) {
        block->before[i] = next;
        next += std::popcount(block->words[i]);
      }
    }
  }
  // The number of an element of the set.
  std::size_t number_of(std::int64_t position) const {
    const Block& block = *blocks_[position / kBlock];
    const std::uint64_t lower = block.words[word_of(position)] & (bit_of(position) - 1);
    return static_cast<std::size_t>(block.before[word_of(position)] + std::popcount(lower));
  }

  // Blocks can be visited in parallel.
  std::int64_t blocks() const { return std::ssize(blocks_); }
  template <typename Visit>  // visit(position)
  void visit_block(std::int64_t index, const Visit& visit) const {
    const std::unique_ptr<Block>& block = blocks_[index];
    for (std::size_t i = 0; block && i < kWords; ++i)
      for (std::uint64_t left = block->words[i]; left != 0; left &= left - 1)
        visit(index * kBlock + static_cast<std::int64_t>(i) * 64 + std::countr_zero(left));
  }

 private:
  static constexpr std::int64_t kBlock = 4096;
  static constexpr std::size_t kWords = kBlock / 64;
  struct Block {
    std::array<std::uint64_t, kWords> words{};
    std::array<std::int64_t, kWords> before{};  // number of elements before each word
  };

  static std::size_t word_of(std::int64_t position) {
    return static_cast<std::size_t>(position % kBlock / 64);
  }
  static std::uint64_t bit_of(std::int64_t position) { return std::uint64_t{1} << (position % 64); }

  ById<std::int64_t, std::unique_ptr<Block>> blocks_;
  std::int64_t count_ = 0;
};

}  // namespace sinter::suite
