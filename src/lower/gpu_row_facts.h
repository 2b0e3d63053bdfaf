// GpuRowFacts: what the rules for row kernels ask about a group's rows. In: GpuFacts and the axis
// of the rows' elements. Out: sizes, what is done with the elements, and how full the machine is.
#pragma once

#include <cstdint>

#include "src/lower/gpu_facts.h"

namespace sinter {

inline constexpr std::int64_t kRowElements = 64;  // per thread, over all live tiles of a row
inline constexpr std::int64_t kShortRow = 512;    // elements
inline constexpr std::int64_t kMiddleRow = 4096;
inline constexpr std::int64_t kLongRow = 8192;
inline constexpr std::int64_t kLongest = 65536;  // longest that a cluster of small blocks holds
inline constexpr int kBlockThreads = 128;

struct GpuRowFacts {
  GpuRowFacts(const GpuFacts& f, int axis, Vectors vectors);

  // Whether there are fewer than `each` rows per multiprocessor.
  bool is_few(std::int64_t each) const { return rows < each * machine.multiprocessors; }
  // Threads that hold a row with at most `each` elements per thread.
  int threads_for(std::int64_t each) const;
  // Vectors of a thread, including one more where rows begin inside a vector.
  std::int64_t vectors_per_thread(std::int64_t threads) const;
  // Registers of the row's largest element, unpacked.
  int words_each() const;
  int widest() const { return facts.widest_vector(col_axis); }  // elements in 16 bytes
  // Whether that many threads pad a row by at most a quarter of its length.
  bool pads_little(std::int64_t threads) const;

  // A per-element operand that all rows share, such as weights.
  bool is_shared_read(const Access& access) const;
  // Prefetch copies whole 16-byte packs, without a look at the window of a padded view.
  bool has_whole_packs(const Access& access) const;

  // Compute-bound rows: little is read for the work done, so more threads share a row.
  bool has_much_to_do() const {
    return facts.space.kept_computed > 0 && facts.space.reductions > 2;
  }
  // Long packed rows spread over a full cluster, so that each block runs several rows and loads the
  // shared operands once. (For the longest rows, there must be twice as many of them.)
  bool has_few_large_rows() const;

  const GpuFacts& facts;
  const Machine& machine;
  const int col_axis;
  const std::int64_t length;
  const std::int64_t rows;
  const Vectors cut;
  const int vector;
  const std::int64_t tiles;  // live tiles of a row, read or computed
  const bool is_narrow;      // elements have at most 16 bits
  const bool can_pack;
  const bool is_packed;  // a thread holds its elements as half2
  const std::int64_t shared_reads;
  const bool stores_at_once;  // elements are stored without waiting for a reduction
  const bool only_reduces;    // no elements are stored
};

}  // namespace sinter
