// Runs one cluster of a kernel's blocks, each thread a fiber: threads take turns when they wait.
// In: a launch and the number of a cluster. Out: its effects on memory, or an InternalError that
// says which thread did what wrong, and where in the kernel's text.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/simt/arrivals.h"
#include "src/simt/fiber.h"
#include "src/simt/shared_memory.h"
#include "src/simt/simt_interface.h"

namespace sinter {

// What all clusters of a launch have in common.
struct SimtLaunch {
  std::string kernel;  // for messages
  const std::string* text = nullptr;
  void (*entry)(const void* words) = nullptr;
  sn::simt::Thread** (*place)() = nullptr;  // of the library's sn_simt_thread on this host thread
  const void* words = nullptr;
  const long long* elements = nullptr;  // of each buffer
  int threads = 1;
  int cluster = 1;
  std::int64_t clusters = 1;
};

class ClusterRun {
 public:
  explicit ClusterRun(const SimtLaunch& launch);
  ~ClusterRun();
  ClusterRun(const ClusterRun&) = delete;
  ClusterRun& operator=(const ClusterRun&) = delete;

  void run(std::int64_t cluster);

 private:
  enum class State : std::uint8_t { ready, block_barrier, cluster_barrier, shuffle, done };
  struct ThreadState;
  struct Entry;  // the functions a kernel calls, on its fiber

  void prepare(std::int64_t cluster);
  bool step_all();
  void step(ThreadState& thread);
  void give_up();  // forgets all threads, throws what was wrong

  // Called on a thread's fiber; after an error they return at once.
  void meet_block(ThreadState& thread, int line);
  void release_block(ThreadState& last);
  void arrive_at_cluster(ThreadState& thread, bool orders, int line);
  void complete_cluster_barrier(ThreadState& last);
  void wait_for_cluster(ThreadState& thread, bool orders, int line);
  void exchange(ThreadState& thread, void* value, int bytes, int mask, int line);
  void swap_lanes(ThreadState* lanes, int count);
  void* declare(ThreadState& thread, const void* site, const char* name, std::int64_t count,
                int bytes, int line, SharedKind kind);
  void* element(ThreadState& thread, void* array, std::int64_t index, int rank, bool write,
                int line);
  void take_fetched(ThreadState& thread, int left);
  void wait_for_meeting(ThreadState& thread, int meeting, int parity, int line);
  void fail_of(const ThreadState& thread, int line, const std::string& what);  // unless empty
  void refuse(ThreadState& thread, const sn::simt::Access& access, sn::simt::Fault fault, int line);

  void fail(const std::string& what);  // the first one counts
  void fail_if(const std::optional<SharedComplaint>& complaint);
  std::string divergence() const;
  std::string divergence_between(const ThreadState& waits, const ThreadState& other) const;
  // A thread that should wait with this one and does not; null if all do.
  const ThreadState* stray(const ThreadState& waits) const;
  std::string who(const SimtPlace& place) const;
  std::string at_line(int line) const;

  const SimtLaunch& launch_;
  sn::simt::Thread** const place_;
  SharedMemory shared_;
  SimtMeetings meetings_;
  std::vector<ThreadState> threads_;  // rank by rank
  std::vector<int> at_shuffle_;       // threads that wait, by warp
  std::vector<int> at_barrier_;       // and by block
  int at_cluster_ = 0;
  std::uint32_t cluster_phase_ = 0;  // cluster barriers completed
  int done_ = 0;
  std::int64_t first_block_ = 0;
  std::string error_;
};

}  // namespace sinter
