// The shared memory of a cluster's blocks, with the last accesses of each element: finds races,
// reads of uninitialized memory, indices out of bounds, writes to blocks that may have exited.
// In: accesses and completed barriers, in order. Out: addresses, or a complaint.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/by_id.h"

namespace sinter {

// Limits per block on a GPU: statically declared arrays, and all shared memory.
inline constexpr std::int64_t kMostDeclaredBytes = 48 << 10;
inline constexpr std::int64_t kMostSharedBytes = 227 << 10;

enum class SharedKind : std::uint8_t {
  declared,  // static: in the kernel's text
  dynamic,   // requested at launch
};

struct SharedDeclaration {
  const void* site;  // identifies the declaration in the kernel's text
  const char* name;
  std::int64_t count;
  int bytes;  // per element
  SharedKind kind;
};

struct SharedAccess {
  void* array;  // a SharedMemory::Array, as the kernel holds it
  std::int64_t index;
  int rank;  // the block whose copy is accessed
  bool write;
  bool cluster_started;  // the thread has waited for the other blocks to start
};

// A thread of the cluster and a line of the kernel's text.
struct SimtPlace {
  int rank = 0;
  int thread = 0;
  int line = 0;
  bool same_thread(const SimtPlace& other) const {
    return rank == other.rank && thread == other.thread;
  }
};

// One wrong access, or two that conflict.
struct SharedComplaint {
  std::string what;  // a format string: {0} and {1} are the places
  SimtPlace first;
  std::optional<SimtPlace> second;
};

class SharedMemory {
 public:
  explicit SharedMemory(int cluster);

  void begin();  // starts another cluster: all memory is uninitialized

  // The array declared at that site; the same for all blocks and threads.
  struct Array;
  Array* declare(const SharedDeclaration& declaration, const SimtPlace& by,
                 std::optional<SharedComplaint>& complaint);

  // The element's address.
  void* access(const SharedAccess& access, const SimtPlace& by,
               std::optional<SharedComplaint>& complaint);

  // A block's or the cluster's barrier has completed.
  std::optional<SharedComplaint> block_synced(int rank);
  std::optional<SharedComplaint> cluster_synced();
  // All threads have ended.
  std::optional<SharedComplaint> end();

  ~SharedMemory();

 private:
  struct Moment;
  struct Cell;
  struct Block;

  Cell& cell_of(Array& array, std::int64_t index, int rank);
  Moment moment(const SimtPlace& by) const;
  static bool ordered(const Moment& a, const Moment& b);
  std::optional<SharedComplaint> refusal_of(const SharedAccess& access, const SimtPlace& by) const;
  std::optional<SharedComplaint> note_read(Array& array, std::int64_t index, const Moment& now);
  std::optional<SharedComplaint> note_write(Array& array, std::int64_t index, int rank,
                                            const Moment& now);

  const int cluster_;
  std::uint32_t serial_ = 0;  // counts begin(): cells with an older one are blank
  std::uint32_t cluster_epoch_ = 0;
  std::int64_t declared_bytes_ = 0;
  std::int64_t dynamic_bytes_ = 0;
  ById<int, Block> blocks_;
  std::vector<Array> arrays_;
  std::optional<SharedComplaint> unseen_put_;  // to another block since the last cluster barrier
};

}  // namespace sinter
