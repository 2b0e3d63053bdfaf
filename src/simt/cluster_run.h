// Runs one cluster of a kernel's blocks with one fiber per thread; threads switch when they wait.
// In: a launch and a cluster's index. Out: its effects on memory, or an InternalError that says
// which thread did what wrong, and where in the kernel's text.
// Parts: cluster_run.cpp (scheduling), cluster_calls.cpp (the kernel's calls, shared memory),
// cluster_barriers.cpp (waiting), cluster_errors.cpp (messages).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/base/by_id.h"
#include "src/simt/arrivals.h"
#include "src/simt/fiber.h"
#include "src/simt/shared_memory.h"
#include "src/simt/simt_interface.h"

namespace sinter {

// Common to all clusters of a launch.
struct SimtLaunch {
  std::string kernel;  // for messages
  const std::string* text = nullptr;
  void (*entry)(const void* words) = nullptr;
  sn::simt::Thread** (*place)() = nullptr;  // address of sn_simt_thread on this host thread
  const void* words = nullptr;
  const long long* elements = nullptr;  // per buffer
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
  struct Entry;  // the functions a kernel calls
  static const sn::simt::Calls& calls();

  void prepare(std::int64_t cluster);
  bool step_all();
  void step(ThreadState& thread);
  static void run_thread(void* argument);  // the body of a fiber
  void give_up();                          // abandons all threads and throws error_

  // Called on a thread's fiber; after an error they return at once.
  void sync_block(ThreadState& thread, int line);
  void release_block(ThreadState& last);
  void arrive_at_cluster(ThreadState& thread, bool orders, int line);
  void complete_cluster_barrier(ThreadState& last);
  void wait_for_cluster(ThreadState& thread, bool orders, int line);
  void exchange(ThreadState& thread, void* value, int bytes, int mask, int line);
  void swap_lanes(ThreadState* lanes, int count);
  void* declare(ThreadState& thread, const SharedDeclaration& declaration, int line);
  void* element(ThreadState& thread, const SharedAccess& access, int line);
  void complete_copies(ThreadState& thread, int left);
  void wait_for_exchange(ThreadState& thread, int exchange, int parity, int line);
  void fail_of(const ThreadState& thread, int line, const std::string& what);  // if not empty
  void refuse(ThreadState& thread, const sn::simt::Access& access, sn::simt::Fault fault, int line);

  void fail(const std::string& what);  // keeps the first error
  void fail_if(const std::optional<SharedComplaint>& complaint);
  std::string divergence() const;
  std::string divergence_between(const ThreadState& waits, const ThreadState& other) const;
  // A thread that should be waiting with this one but is not; null if all are.
  const ThreadState* stray(const ThreadState& waits) const;
  std::string who(const SimtPlace& place) const;
  std::string at_line(int line) const;

  const SimtLaunch& launch_;
  sn::simt::Thread** const place_;
  SharedMemory shared_;
  SimtMbarriers mbarriers_;
  ById<int, ThreadState> threads_;  // block by block
  ById<int, int> at_shuffle_;       // waiting threads per warp
  ById<int, int> at_barrier_;       // waiting threads per block
  int at_cluster_ = 0;
  std::uint32_t cluster_phase_ = 0;  // cluster barriers completed
  int done_ = 0;
  std::int64_t first_block_ = 0;
  std::string error_;
};

}  // namespace sinter
