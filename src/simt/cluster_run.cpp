// Scheduling: threads run in turns until they wait or end. If none is ready and not all have ended,
// the remaining ones are deadlocked.
#include "src/simt/cluster_run.h"

#include <fmt/format.h>
#include <sinter/error.h>

#include <algorithm>
#include <utility>

#include "src/base/rounding.h"
#include "src/simt/cluster_thread.h"

namespace sinter {

ClusterRun::ClusterRun(const SimtLaunch& launch)
    : launch_(launch),
      place_(launch.place()),
      shared_(launch.cluster),
      mbarriers_(launch.cluster),
      threads_(static_cast<std::size_t>(launch.threads * launch.cluster)),
      at_shuffle_(static_cast<std::size_t>(ceil_div(launch.threads, kWarpLanes) * launch.cluster)),
      at_barrier_(static_cast<std::size_t>(launch.cluster)) {}

ClusterRun::~ClusterRun() = default;

void ClusterRun::prepare(std::int64_t cluster) {
  first_block_ = cluster * launch_.cluster;
  shared_.begin();
  mbarriers_.begin();
  std::fill(at_shuffle_.begin(), at_shuffle_.end(), 0);
  std::fill(at_barrier_.begin(), at_barrier_.end(), 0);
  at_cluster_ = 0;
  cluster_phase_ = 0;
  done_ = 0;
  for (int i = 0; i < threads_.end_id(); ++i) {
    ThreadState& state = threads_[i];
    state.thread = i % launch_.threads;
    state.rank = i / launch_.threads;
    state.block = first_block_ + state.rank;
    state.blocks = launch_.clusters * launch_.cluster;
    state.may_touch_memory = false;
    state.elements = launch_.elements;
    state.calls = &calls();
    state.run = this;
    state.state = State::ready;
    state.arrived = false;
    state.cluster_started = false;
    state.copies.clear();
  }
}

void ClusterRun::run(std::int64_t cluster) {
  prepare(cluster);
  const int all = static_cast<int>(threads_.size());
  while (done_ < all)
    if (!step_all()) fail(divergence()), give_up();
  fail_if(shared_.end());
  if (!error_.empty()) give_up();
}

// Steps every thread that is ready. False if none is.
bool ClusterRun::step_all() {
  bool any = false;
  for (ThreadState& thread : threads_) {
    if (thread.state != State::ready) continue;
    step(thread);
    any = true;
    if (!error_.empty()) give_up();
  }
  return any;
}

// Threads that never wait run one after another on the same fiber.
void ClusterRun::step(ThreadState& thread) {
  *place_ = &thread;
  if (thread.fiber) {
    thread.fiber->resume();
  } else {
    thread.fiber = IdleFibers::take();
    thread.fiber->start(&run_thread, &thread);
  }
  if (!thread.fiber->finished()) return;
  IdleFibers::give_back(std::move(thread.fiber));
  thread.state = State::done;
  ++done_;
}

void ClusterRun::run_thread(void* argument) {
  const auto& state = *static_cast<ThreadState*>(argument);
  state.run->launch_.entry(state.run->launch_.words);
}

void ClusterRun::give_up() {
  for (ThreadState& thread : threads_) {
    if (!thread.fiber) continue;
    thread.fiber->abandon();
    IdleFibers::give_back(std::move(thread.fiber));
  }
  std::string what;
  std::swap(what, error_);
  throw InternalError(fmt::format("[simt] kernel {}: {}", launch_.kernel, what));
}

}  // namespace sinter
