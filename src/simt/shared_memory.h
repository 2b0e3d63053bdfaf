// The shared memory of a cluster's blocks, and who touched each element since when: finds races,
// reads of what was never written, indices outside, writes to blocks that may be gone.
// In: accesses as the threads make them, barriers as they complete. Out: addresses, or a complaint.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sinter {

// What a GPU gives the arrays of a block that are declared in the kernel's text, and in all.
inline constexpr std::int64_t kMostDeclaredBytes = 48 << 10;
inline constexpr std::int64_t kMostSharedBytes = 227 << 10;

enum class SharedKind : std::uint8_t {
  declared,  // in the kernel's text
  added,     // by the launch, which asks for as much as it needs
};

// A thread of the cluster, and where in the text it stands.
struct SimtPlace {
  int rank = 0;
  int thread = 0;
  int line = 0;
  bool same_thread(const SimtPlace& other) const {
    return rank == other.rank && thread == other.thread;
  }
};

// Two places that together are wrong, or one (second is empty).
struct SharedComplaint {
  std::string what;  // with {0} and {1} where the places belong
  SimtPlace first;
  std::optional<SimtPlace> second;
};

class SharedMemory {
 public:
  explicit SharedMemory(int cluster);

  void begin();  // another cluster's blocks: everything is unwritten

  // The array declared at `site`; the same for all blocks and threads.
  struct Array;
  Array* declare(const void* site, const char* name, std::int64_t count, int bytes, SharedKind kind,
                 const SimtPlace& by, std::optional<SharedComplaint>& complaint);

  // Element `index` of block `rank`. `met`: the thread knows that the other blocks have started.
  void* access(Array& array, std::int64_t index, int rank, bool write, bool met,
               const SimtPlace& by, std::optional<SharedComplaint>& complaint);

  // All threads of a block, or of the cluster, have met.
  std::optional<SharedComplaint> block_met(int rank);
  std::optional<SharedComplaint> cluster_met();
  // All threads have ended.
  std::optional<SharedComplaint> end();

  ~SharedMemory();

 private:
  struct Moment;
  struct Cell;
  struct Pending;
  struct Block;

  Cell& cell_of(Array& array, std::int64_t index, int rank);
  Moment moment(const SimtPlace& by) const;
  static bool ordered(const Moment& a, const Moment& b);
  std::optional<SharedComplaint> note_read(Array& array, std::int64_t index, const Moment& now);
  std::optional<SharedComplaint> note_write(Array& array, std::int64_t index, int rank,
                                            const Moment& now);

  const int cluster_;
  std::uint32_t serial_ = 0;  // of begin(): cells of an older one are blank
  std::uint32_t cluster_epoch_ = 0;
  std::int64_t declared_bytes_ = 0;
  std::int64_t added_bytes_ = 0;
  std::vector<Block> blocks_;
  std::vector<Array> arrays_;
  std::optional<SharedComplaint> unseen_put_;  // into another block since the last cluster barrier
};

}  // namespace sinter
