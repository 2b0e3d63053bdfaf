// The turns threads take, and their barriers: who comes last lets the others go on. When nobody can
// go on and not all have ended, threads wait for some that will never come.
#include "src/simt/cluster_run.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "src/base/check.h"
#include "src/base/rounding.h"

namespace sinter {
namespace {

constexpr int kWarp = 32;
constexpr int kLargestExchange = 16;  // bytes

}  // namespace

struct ClusterRun::ThreadState : sn::simt::Thread {
  ClusterRun* run = nullptr;
  std::unique_ptr<Fiber> fiber;
  State state = State::ready;
  int line = 0;  // where it waits
  // Its part in the cluster's barrier.
  bool arrived = false;
  bool orders = false;
  int arrival_line = 0;
  std::uint32_t arrival_phase = 0;
  bool met_cluster = false;
  // Its part in an exchange.
  int mask = 0;
  int bytes = 0;
  std::byte given[kLargestExchange];
  std::byte taken[kLargestExchange];
  SimtFetches fetches;

  SimtPlace at(int its_line) const { return {rank, thread, its_line}; }
  SimtPlace at() const { return at(line); }
};

struct ClusterRun::Entry {
  // Nothing of a kernel can be unwound: what goes wrong is kept, and the fiber is left for ever.
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
    guarded(thread, [&](ClusterRun& run, ThreadState& state) { run.meet_block(state, line); });
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
      array = run.declare(state, site, name, count, bytes, line, SharedKind::declared);
    });
    return array;
  }
  static void* fetched_array(sn::simt::Thread* thread, const void* site, const char* name,
                             long long count, int bytes, int line) {
    void* array = nullptr;
    guarded(thread, [&](ClusterRun& run, ThreadState& state) {
      array = run.declare(state, site, name, count, bytes, line, SharedKind::added);
    });
    return array;
  }
  static void fetch(sn::simt::Thread* thread, void* array, long long index, const void* from,
                    int line) {
    static_cast<ThreadState*>(thread)->fetches.add(array, index, from, line);
  }
  static void end_of_fetch(sn::simt::Thread* thread) {
    static_cast<ThreadState*>(thread)->fetches.end_group();
  }
  static void wait_for_fetched(sn::simt::Thread* thread, int left, int /*line*/) {
    guarded(thread, [&](ClusterRun& run, ThreadState& state) { run.take_fetched(state, left); });
  }
  static void expect_at_meeting(sn::simt::Thread* thread, int meeting, int bytes, int line) {
    guarded(thread, [&](ClusterRun& run, ThreadState& state) {
      run.fail_of(state, line, run.meetings_.expect(state.rank, meeting, bytes));
    });
  }
  static void put_at_meeting(sn::simt::Thread* thread, int meeting, int rank, int bytes,
                             int /*line*/) {
    static_cast<ThreadState*>(thread)->run->meetings_.put(rank, meeting, bytes);
  }
  static void wait_for_meeting(sn::simt::Thread* thread, int meeting, int parity, int line) {
    guarded(thread, [&](ClusterRun& run, ThreadState& state) {
      run.wait_for_meeting(state, meeting, parity, line);
    });
  }
  static void* shared_element(sn::simt::Thread* thread, void* array, long long index, int rank,
                              bool write, int line) {
    void* element = nullptr;
    guarded(thread, [&](ClusterRun& run, ThreadState& state) {
      element = run.element(state, array, index, rank, write, line);
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
      .expect_at_meeting = &expect_at_meeting,
      .put_at_meeting = &put_at_meeting,
      .wait_for_meeting = &wait_for_meeting,
      .shared_element = &shared_element,
      .refuse = &refuse,
  };

  static void run_thread(void* argument) {
    const auto& state = *static_cast<ThreadState*>(argument);
    state.run->launch_.entry(state.run->launch_.words);
  }
};

ClusterRun::ClusterRun(const SimtLaunch& launch)
    : launch_(launch),
      place_(launch.place()),
      shared_(launch.cluster),
      meetings_(launch.cluster),
      threads_(static_cast<std::size_t>(launch.threads * launch.cluster)),
      at_shuffle_(static_cast<std::size_t>(ceil_div(launch.threads, kWarp) * launch.cluster)),
      at_barrier_(static_cast<std::size_t>(launch.cluster)) {}

ClusterRun::~ClusterRun() = default;

void ClusterRun::prepare(std::int64_t cluster) {
  first_block_ = cluster * launch_.cluster;
  shared_.begin();
  meetings_.begin();
  std::fill(at_shuffle_.begin(), at_shuffle_.end(), 0);
  std::fill(at_barrier_.begin(), at_barrier_.end(), 0);
  at_cluster_ = 0;
  cluster_phase_ = 0;
  done_ = 0;
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    ThreadState& state = threads_[i];
    state.thread = static_cast<int>(i) % launch_.threads;
    state.rank = static_cast<int>(i) / launch_.threads;
    state.block = first_block_ + state.rank;
    state.blocks = launch_.clusters * launch_.cluster;
    state.may_touch_memory = false;
    state.elements = launch_.elements;
    state.calls = &Entry::kCalls;
    state.run = this;
    state.state = State::ready;
    state.arrived = false;
    state.met_cluster = false;
    state.fetches.clear();
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

// Everybody who can goes on once. False if nobody can.
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

// Threads that never wait run one after the other on the same fiber.
void ClusterRun::step(ThreadState& thread) {
  *place_ = &thread;
  if (thread.fiber) {
    thread.fiber->resume();
  } else {
    thread.fiber = IdleFibers::take();
    thread.fiber->start(&Entry::run_thread, &thread);
  }
  if (!thread.fiber->finished()) return;
  IdleFibers::give_back(std::move(thread.fiber));
  thread.state = State::done;
  ++done_;
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

// --- waiting: who comes last waits for its turn, too, so that thread 0 always goes first ---

void ClusterRun::meet_block(ThreadState& thread, int line) {
  int& waiting = at_barrier_[static_cast<std::size_t>(thread.rank)];
  thread.state = State::block_barrier;
  thread.line = line;
  if (++waiting == launch_.threads) release_block(thread);
  if (error_.empty()) thread.fiber->pause();
}

void ClusterRun::release_block(ThreadState& last) {
  if (const ThreadState* other = stray(last)) return fail(divergence_between(*other, last));
  at_barrier_[static_cast<std::size_t>(last.rank)] = 0;
  ThreadState* first = threads_.data() + last.rank * launch_.threads;
  for (int i = 0; i < launch_.threads; ++i) first[i].state = State::ready;
  fail_if(shared_.block_met(last.rank));
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
  if (last.orders) fail_if(shared_.cluster_met());
}

void ClusterRun::wait_for_cluster(ThreadState& thread, bool orders, int line) {
  if (!thread.arrived || thread.orders != orders)
    return fail(fmt::format("{} waits for the cluster, but has not said that it has started",
                            who(thread.at(line))));
  thread.line = line;
  if (thread.arrival_phase == cluster_phase_) thread.state = State::cluster_barrier;
  thread.fiber->pause();
  thread.arrived = false;
  thread.met_cluster = true;
}

void ClusterRun::exchange(ThreadState& thread, void* value, int bytes, int mask, int line) {
  if (bytes > kLargestExchange)
    return fail(fmt::format("{} exchanges {} bytes", who(thread.at(line)), bytes));
  const auto warps = static_cast<int>(ceil_div(launch_.threads, kWarp));
  const int warp = thread.thread / kWarp;
  const int lanes = std::min(kWarp, launch_.threads - warp * kWarp);
  if ((thread.thread % kWarp ^ mask) >= lanes || mask < 0)
    return fail(fmt::format("{} exchanges with lane {} of a warp of {}", who(thread.at(line)),
                            thread.thread % kWarp ^ mask, lanes));
  std::memcpy(thread.given, value, static_cast<std::size_t>(bytes));
  thread.bytes = bytes;
  thread.mask = mask;
  thread.state = State::shuffle;
  thread.line = line;
  int& waiting =
      at_shuffle_[static_cast<std::size_t>(thread.rank) * static_cast<std::size_t>(warps) +
                  static_cast<std::size_t>(warp)];
  if (++waiting == lanes) {
    if (const ThreadState* other = stray(thread)) return fail(divergence_between(*other, thread));
    waiting = 0;
    swap_lanes(threads_.data() + thread.rank * launch_.threads + warp * kWarp, lanes);
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

// --- memory ---

void* ClusterRun::declare(ThreadState& thread, const void* site, const char* name,
                          std::int64_t count, int bytes, int line, SharedKind kind) {
  std::optional<SharedComplaint> complaint;
  SharedMemory::Array* array =
      shared_.declare(site, name, count, bytes, kind, thread.at(line), complaint);
  fail_if(complaint);
  return array;
}

void* ClusterRun::element(ThreadState& thread, void* array, std::int64_t index, int rank,
                          bool write, int line) {
  std::optional<SharedComplaint> complaint;
  void* element = shared_.access(*static_cast<SharedMemory::Array*>(array), index, rank, write,
                                 thread.met_cluster, thread.at(line), complaint);
  fail_if(complaint);
  return element;
}

void ClusterRun::take_fetched(ThreadState& thread, int left) {
  for (const SimtFetches::Copy& copy : thread.fetches.arrived(left)) {
    void* to = element(thread, copy.array, copy.index, thread.rank, true, copy.line);
    if (!error_.empty()) return;
    std::memcpy(to, copy.bytes.data(), copy.bytes.size());
  }
}

void ClusterRun::wait_for_meeting(ThreadState& thread, int meeting, int parity, int line) {
  fail_of(thread, line, meetings_.check_parity(thread.rank, meeting, parity));
  arrive_at_cluster(thread, true, line);
  if (!error_.empty()) return;
  wait_for_cluster(thread, true, line);
  if (thread.thread == 0) fail_of(thread, line, meetings_.end(thread.rank, meeting));
}

void ClusterRun::fail_of(const ThreadState& thread, int line, const std::string& what) {
  if (!what.empty()) fail(fmt::format("{} {}", who(thread.at(line)), what));
}

void ClusterRun::refuse(ThreadState& thread, const sn::simt::Access& access, sn::simt::Fault fault,
                        int line) {
  const std::string what = fmt::format(
      "{} {} {}[{}{}]", who(thread.at(line)), access.write ? "writes" : "reads", access.buffer,
      access.index, access.count > 1 ? fmt::format(" to {}", access.index + access.count - 1) : "");
  switch (fault) {
    case sn::simt::Fault::outside:
      return fail(fmt::format("{}, which has {} elements", what, access.elements));
    case sn::simt::Fault::misaligned:
      return fail(
          fmt::format("{} at once, at an address that is no multiple of {}", what, access.bytes));
    case sn::simt::Fault::not_waited:
      return fail(fmt::format("{} before it waits for the previous kernel", what));
  }
}

// --- what is wrong ---

void ClusterRun::fail(const std::string& what) {
  if (error_.empty()) error_ = what;
}

void ClusterRun::fail_if(const std::optional<SharedComplaint>& complaint) {
  if (!complaint) return;
  const std::string second = complaint->second ? who(*complaint->second) : "";
  fail(fmt::format(fmt::runtime(complaint->what), who(complaint->first), second));
}

const ClusterRun::ThreadState* ClusterRun::stray(const ThreadState& waits) const {
  int first = 0;
  int last = static_cast<int>(threads_.size());
  if (waits.state != State::cluster_barrier) {
    first = waits.rank * launch_.threads;
    last = first + launch_.threads;
  }
  if (waits.state == State::shuffle) {
    first += waits.thread / kWarp * kWarp;
    last = std::min(last, first + kWarp);
  }
  for (int i = first; i < last; ++i) {
    const ThreadState& other = threads_[static_cast<std::size_t>(i)];
    if (other.state != waits.state || other.line != waits.line) return &other;
    if (waits.state == State::shuffle && other.bytes != waits.bytes) return &other;
  }
  return nullptr;
}

// Nobody can go on: the first that waits in vain, and one it waits for. One that has ended explains
// most, and a thread in a warp's exchange waits for fewer than one at a barrier.
std::string ClusterRun::divergence() const {
  const ThreadState* waits = nullptr;
  const ThreadState* other = nullptr;
  for (State state : {State::shuffle, State::block_barrier, State::cluster_barrier}) {
    for (const ThreadState& thread : threads_) {
      if (thread.state != state) continue;
      const ThreadState* missing = stray(thread);
      if (!missing || (other && missing->state != State::done)) continue;
      waits = &thread;
      other = missing;
      if (other->state == State::done) return divergence_between(*waits, *other);
    }
  }
  return waits ? divergence_between(*waits, *other) : "no thread can go on";
}

std::string ClusterRun::divergence_between(const ThreadState& waits,
                                           const ThreadState& other) const {
  const auto wait_name = [](State state) {
    return state == State::shuffle           ? "for its warp's exchange"
           : state == State::block_barrier   ? "at its block's barrier"
           : state == State::cluster_barrier ? "at its cluster's barrier"
                                             : "";
  };
  const std::string does =
      other.state == State::done
          ? fmt::format("thread {} of block {} has ended", other.thread, other.block)
          : fmt::format("{} waits {}", who(other.at()), wait_name(other.state));
  return fmt::format("barrier not reached by all threads: {} waits {}, but {}", who(waits.at()),
                     wait_name(waits.state), does);
}

std::string ClusterRun::who(const SimtPlace& place) const {
  return fmt::format("thread {} of block {} ({})", place.thread, first_block_ + place.rank,
                     at_line(place.line));
}

std::string ClusterRun::at_line(int line) const {
  std::string_view rest = *launch_.text;
  for (int i = 1; i < line && !rest.empty(); ++i) {
    const std::size_t end = rest.find('\n');
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  rest = rest.substr(0, rest.find('\n'));
  const std::size_t begin = rest.find_first_not_of(' ');
  rest.remove_prefix(begin == std::string_view::npos ? rest.size() : begin);
  return fmt::format("line {}: {}", line, rest);
}

}  // namespace sinter
