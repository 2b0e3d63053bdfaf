// Barriers and warp exchanges: the last thread to arrive releases the others. It pauses too, so
// that thread 0 always runs first.
#include <algorithm>
#include <cstring>

#include "src/base/check.h"
#include "src/base/rounding.h"
#include "src/simt/cluster_thread.h"

namespace sinter {

void ClusterRun::sync_block(ThreadState& thread, int line) {
  int& waiting = at_barrier_[thread.rank];
  thread.state = State::block_barrier;
  thread.line = line;
  if (++waiting == launch_.threads) release_block(thread);
  if (error_.empty()) thread.fiber->pause();
}

void ClusterRun::release_block(ThreadState& last) {
  if (const ThreadState* other = stray(last)) return fail(divergence_between(*other, last));
  at_barrier_[last.rank] = 0;
  ThreadState* first = threads_.data() + last.rank * launch_.threads;
  for (int i = 0; i < launch_.threads; ++i) first[i].state = State::ready;
  fail_if(shared_.block_synced(last.rank));
}

void ClusterRun::arrive_at_cluster(ThreadState& thread, bool orders, int line) {
  if (thread.arrived)
    return fail(fmt::format("{} arrives at the cluster's barrier again, before it waits for it",
                            who(thread.at(line))));
  thread.arrived = true;
  thread.orders = orders;
  thread.arrival_line = line;
  thread.arrival_phase = cluster_phase_;
  if (++at_cluster_ == static_cast<int>(threads_.size())) complete_cluster_barrier(thread);
}

void ClusterRun::complete_cluster_barrier(ThreadState& last) {
  for (const ThreadState& other : threads_)
    if (other.arrival_line != last.arrival_line)
      return fail(fmt::format("barrier not reached by all threads: {} arrives, {} does elsewhere",
                              who(last.at(last.arrival_line)), who(other.at(other.arrival_line))));
  at_cluster_ = 0;
  ++cluster_phase_;
  for (ThreadState& thread : threads_)
    if (thread.state == State::cluster_barrier) thread.state = State::ready;
  if (last.orders) fail_if(shared_.cluster_synced());
}

void ClusterRun::wait_for_cluster(ThreadState& thread, bool orders, int line) {
  if (!thread.arrived || thread.orders != orders)
    return fail(fmt::format("{} waits for the cluster, but has not said that it has started",
                            who(thread.at(line))));
  thread.line = line;
  if (thread.arrival_phase == cluster_phase_) thread.state = State::cluster_barrier;
  thread.fiber->pause();
  thread.arrived = false;
  thread.cluster_started = true;
}

void ClusterRun::exchange(ThreadState& thread, void* value, int bytes, int mask, int line) {
  if (bytes > kLargestExchange)
    return fail(fmt::format("{} exchanges {} bytes", who(thread.at(line)), bytes));
  const auto warps = static_cast<int>(ceil_div(launch_.threads, kWarpLanes));
  const int warp = thread.thread / kWarpLanes;
  const int lanes = std::min(kWarpLanes, launch_.threads - warp * kWarpLanes);
  if ((thread.thread % kWarpLanes ^ mask) >= lanes || mask < 0)
    return fail(fmt::format("{} exchanges with lane {} of a warp of {}", who(thread.at(line)),
                            thread.thread % kWarpLanes ^ mask, lanes));
  std::memcpy(thread.given, value, static_cast<std::size_t>(bytes));
  thread.bytes = bytes;
  thread.mask = mask;
  thread.state = State::shuffle;
  thread.line = line;
  int& waiting = at_shuffle_[thread.rank * warps + warp];
  if (++waiting == lanes) {
    if (const ThreadState* other = stray(thread)) return fail(divergence_between(*other, thread));
    waiting = 0;
    swap_lanes(threads_.data() + thread.rank * launch_.threads + warp * kWarpLanes, lanes);
  }
  thread.fiber->pause();
  std::memcpy(value, thread.taken, static_cast<std::size_t>(bytes));
}

void ClusterRun::swap_lanes(ThreadState* lanes, int count) {
  for (int lane = 0; lane < count; ++lane) {
    ThreadState& thread = lanes[lane];
    std::memcpy(thread.taken, lanes[lane ^ thread.mask].given, kLargestExchange);
    thread.state = State::ready;
  }
}

void ClusterRun::wait_for_exchange(ThreadState& thread, int exchange, int parity, int line) {
  fail_of(thread, line, mbarriers_.check_parity(thread.rank, exchange, parity));
  arrive_at_cluster(thread, true, line);
  if (!error_.empty()) return;
  wait_for_cluster(thread, true, line);
  if (thread.thread == 0) fail_of(thread, line, mbarriers_.end(thread.rank, exchange));
}

}  // namespace sinter
