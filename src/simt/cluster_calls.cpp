// The functions a kernel calls on its fiber, and its accesses to shared memory.
// In: calls through sn::simt::Calls. Out: their effects, or an error kept in the ClusterRun.
#include <cstring>

#include "src/simt/cluster_thread.h"

namespace sinter {

struct ClusterRun::Entry {
  // Kernel frames cannot be unwound: record the error and suspend the fiber for good.
  template <typename Body>
  static void guarded(sn::simt::Thread* thread, const Body& body) {
    auto& state = *static_cast<ThreadState*>(thread);
    try {
      body(*state.run, state);
    } catch (const std::exception& error) {
      state.run->fail(error.what());
    }
    if (!state.run->error_.empty()) state.fiber->pause();
  }

  static void block_barrier(sn::simt::Thread* thread, int line) {
    guarded(thread, [&](ClusterRun& run, ThreadState& state) { run.sync_block(state, line); });
  }
  static void arrive_at_cluster(sn::simt::Thread* thread, bool orders, int line) {
    guarded(thread, [&](ClusterRun& run, ThreadState& state) {
      run.arrive_at_cluster(state, orders, line);
    });
  }
  static void wait_for_cluster(sn::simt::Thread* thread, bool orders, int line) {
    guarded(thread, [&](ClusterRun& run, ThreadState& state) {
      run.wait_for_cluster(state, orders, line);
    });
  }
  static void exchange(sn::simt::Thread* thread, void* value, int bytes, int mask, int line) {
    guarded(thread, [&](ClusterRun& run, ThreadState& state) {
      run.exchange(state, value, bytes, mask, line);
    });
  }
  static void* shared_array(sn::simt::Thread* thread, const void* site, const char* name,
                            long long count, int bytes, int line) {
    void* array = nullptr;
    guarded(thread, [&](ClusterRun& run, ThreadState& state) {
      array = run.declare(state, {site, name, count, bytes, SharedKind::declared}, line);
    });
    return array;
  }
  static void* fetched_array(sn::simt::Thread* thread, const void* site, const char* name,
                             long long count, int bytes, int line) {
    void* array = nullptr;
    guarded(thread, [&](ClusterRun& run, ThreadState& state) {
      array = run.declare(state, {site, name, count, bytes, SharedKind::dynamic}, line);
    });
    return array;
  }
  static void fetch(sn::simt::Thread* thread, void* array, long long index, const void* from,
                    int line) {
    static_cast<ThreadState*>(thread)->copies.add(array, index, from, line);
  }
  static void end_of_fetch(sn::simt::Thread* thread) {
    static_cast<ThreadState*>(thread)->copies.end_group();
  }
  static void wait_for_fetched(sn::simt::Thread* thread, int left, int /*line*/) {
    guarded(thread, [&](ClusterRun& run, ThreadState& state) { run.complete_copies(state, left); });
  }
  static void expect_at_exchange(sn::simt::Thread* thread, int exchange, int bytes, int line) {
    guarded(thread, [&](ClusterRun& run, ThreadState& state) {
      run.fail_of(state, line, run.mbarriers_.expect(state.rank, exchange, bytes));
    });
  }
  static void put_at_exchange(sn::simt::Thread* thread, int exchange, int rank, int bytes,
                              int /*line*/) {
    static_cast<ThreadState*>(thread)->run->mbarriers_.put(rank, exchange, bytes);
  }
  static void wait_for_exchange(sn::simt::Thread* thread, int exchange, int parity, int line) {
    guarded(thread, [&](ClusterRun& run, ThreadState& state) {
      run.wait_for_exchange(state, exchange, parity, line);
    });
  }
  static void* shared_element(sn::simt::Thread* thread, void* array, long long index, int rank,
                              bool write, int line) {
    void* element = nullptr;
    guarded(thread, [&](ClusterRun& run, ThreadState& state) {
      element = run.element(state, {array, index, rank, write, state.cluster_started}, line);
    });
    return element;
  }
  static void refuse(sn::simt::Thread* thread, const sn::simt::Access* access,
                     sn::simt::Fault fault, int line) {
    guarded(thread,
            [&](ClusterRun& run, ThreadState& state) { run.refuse(state, *access, fault, line); });
  }
  static constexpr sn::simt::Calls kCalls = {
      .block_barrier = &block_barrier,
      .arrive_at_cluster = &arrive_at_cluster,
      .wait_for_cluster = &wait_for_cluster,
      .exchange = &exchange,
      .shared_array = &shared_array,
      .fetched_array = &fetched_array,
      .fetch = &fetch,
      .end_of_fetch = &end_of_fetch,
      .wait_for_fetched = &wait_for_fetched,
      .expect_at_exchange = &expect_at_exchange,
      .put_at_exchange = &put_at_exchange,
      .wait_for_exchange = &wait_for_exchange,
      .shared_element = &shared_element,
      .refuse = &refuse,
  };
};

const sn::simt::Calls& ClusterRun::calls() { return Entry::kCalls; }

void* ClusterRun::declare(ThreadState& thread, const SharedDeclaration& declaration, int line) {
  std::optional<SharedComplaint> complaint;
  SharedMemory::Array* array = shared_.declare(declaration, thread.at(line), complaint);
  fail_if(complaint);
  return array;
}

void* ClusterRun::element(ThreadState& thread, const SharedAccess& access, int line) {
  std::optional<SharedComplaint> complaint;
  void* element = shared_.access(access, thread.at(line), complaint);
  fail_if(complaint);
  return element;
}

void ClusterRun::complete_copies(ThreadState& thread, int left) {
  for (const SimtAsyncCopies::Copy& copy : thread.copies.complete(left)) {
    void* to = element(thread, {copy.array, copy.index, thread.rank, true, thread.cluster_started},
                       copy.line);
    if (!error_.empty()) return;
    std::memcpy(to, copy.bytes.data(), copy.bytes.size());
  }
}

}  // namespace sinter
