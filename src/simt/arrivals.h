// Asynchronous operations: a thread's copies to shared memory (cp.async), and the mbarriers that
// count the bytes stored by the blocks of a cluster; the kernel vocabulary calls these exchange
// barriers. In: the threads' operations. Out: copies once they must be complete, or an error in the
// use of an mbarrier.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "src/base/by_id.h"

namespace sinter {

// One thread's copies, in groups that complete in order.
class SimtAsyncCopies {
 public:
  static constexpr std::size_t kBytes = 16;  // per copy

  struct Copy {
    void* array;
    std::int64_t index;
    int line;
    std::uint32_t group;
    std::array<std::byte, kBytes> bytes;
  };

  void add(void* array, std::int64_t index, const void* from, int line);
  void end_group() { ++groups_; }
  // Completes all but the last `left` groups and returns their copies.
  std::vector<Copy> complete(int left);
  void clear();

 private:
  std::deque<Copy> in_flight_;
  std::uint32_t groups_ = 0;  // committed
};

// The mbarriers of one cluster, by block and index.
class SimtMbarriers {
 public:
  explicit SimtMbarriers(int cluster) : blocks_(static_cast<std::size_t>(cluster)) {}

  void begin();  // starts another cluster

  // Each returns an error message, or an empty string.
  std::string expect(int rank, int index, int bytes);
  std::string check_parity(int rank, int index, int parity);
  std::string end(int rank, int index);  // all blocks have stored their bytes
  void put(int rank, int index, int bytes) { find(rank, index).stored += bytes; }

 private:
  struct Mbarrier {
    int expected = -1;  // -1: not set
    int stored = 0;
    int uses = 0;
  };
  Mbarrier& find(int rank, int index);

  ById<int, ById<int, Mbarrier>> blocks_;
};

}  // namespace sinter
