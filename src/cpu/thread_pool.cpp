// One 64-bit word holds whether a job is open and how many workers are in it. A worker joins only
// while the job is open, so one that wakes late touches nothing. The caller closes the job when no
// chunk is left and waits only for the workers inside, never for sleeping ones.
#include "src/cpu/thread_pool.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "src/cpu/scratch.h"
#include "src/cpu/spin.h"

namespace sinter {
namespace {

// Chunks per thread: enough to balance programs of different cost and preempted threads, few enough
// that neighbouring programs mostly stay together.
constexpr std::int64_t kPiecesPerThread = 4;
// How long an idle worker spins before it sleeps: longer than the gap between two kernels of a
// plan, too short to waste noticeable CPU time.
constexpr auto kSpinTime = std::chrono::microseconds(40);

// state: job number, open flag, number of workers inside.
constexpr std::uint64_t kOpen = std::uint64_t{1} << 31;
constexpr std::uint64_t kInside = kOpen - 1;
constexpr int kNumberShift = 32;

// Spins for up to kSpinTime; returns whether ready() became true.
template <typename Ready>
bool spin_until(const Ready& ready) {
  const auto deadline = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < 32; ++i) {
      if (ready()) return true;
      pause_core();
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return ready();
}

}  // namespace

struct ThreadPool::Crew {
  alignas(64) std::atomic<std::uint64_t> state{0};
  alignas(64) std::atomic<std::int64_t> next{0};  // the first program not yet taken
  alignas(64) std::atomic<std::uint32_t> wake{0};
  std::atomic<int> sleepers{0};
  std::atomic<bool> stop{false};
  std::atomic<bool> failed{false};
  alignas(64) Job job;
  std::vector<std::thread> workers;
};

ThreadPool::ThreadPool(int threads)
    : threads_(std::max(threads, 1)),
      crew_(std::make_unique<Crew>()),
      fork_listener_([] {},
                     [this](bool in_child) {
                       if (!in_child) return;
                       // The workers do not exist here and their handles cannot be joined: leak
                       // everything.
                       (void)crew_.release();  // NOLINT(bugprone-unused-return-value)
                       crew_ = std::make_unique<Crew>();
                       busy_ = false;
                     }) {}

ThreadPool::~ThreadPool() {
  crew_->stop = true;
  crew_->wake.fetch_add(1);
  crew_->wake.notify_all();
  for (std::thread& worker : crew_->workers) worker.join();
}

void ThreadPool::run_here(std::int64_t count, std::size_t scratch_bytes, RangeFunction function,
                          const void* context) {
  if (count <= 0) return;
  const ScratchLease scratch(scratch_bytes);
  function(context, 0, count, scratch.data());
}

void ThreadPool::parallel_for(std::int64_t count, std::size_t scratch_bytes, RangeFunction function,
                              const void* context) {
  if (count <= 1 || threads_ == 1 || busy_.exchange(true, std::memory_order_acquire)) {
    run_here(count, scratch_bytes, function, context);
    return;
  }
  Crew& crew = *crew_;
  if (crew.workers.empty()) start_workers();
  const std::int64_t pieces = std::min(count, threads_ * kPiecesPerThread);
  crew.job = {function, context, count, (count + pieces - 1) / pieces, scratch_bytes, nullptr};
  crew.next.store(0, std::memory_order_relaxed);
  crew.failed.store(false, std::memory_order_relaxed);
  dispatch(crew);
  const std::exception_ptr error = std::exchange(crew.job.error, nullptr);
  busy_.store(false, std::memory_order_release);
  if (error) std::rethrow_exception(error);
}

// Opens the job, takes part in it, closes it and waits for the other workers.
void ThreadPool::dispatch(Crew& crew) {
  const std::uint64_t number = (crew.state.load(std::memory_order_relaxed) >> kNumberShift) + 1;
  crew.state.store(number << kNumberShift | kOpen);
  wake_sleepers(crew, (crew.job.count + crew.job.piece - 1) / crew.job.piece - 1);
  run_pieces(crew);
  crew.state.fetch_and(~kOpen, std::memory_order_acq_rel);
  const auto everyone_out = [&] {
    return (crew.state.load(std::memory_order_acquire) & kInside) == 0;
  };
  // A preempted worker needs our core to finish.
  while (!spin_until(everyone_out)) std::this_thread::yield();
}

// The order here and in work() guarantees that the caller sees the sleeper or the sleeper sees the
// job.
void ThreadPool::wake_sleepers(Crew& crew, std::int64_t wanted) {
  const int sleepers = crew.sleepers.load();
  if (sleepers == 0) return;
  crew.wake.fetch_add(1);
  if (wanted >= sleepers) {
    crew.wake.notify_all();
  } else {
    for (std::int64_t i = 0; i < wanted; ++i) crew.wake.notify_one();
  }
}

void ThreadPool::run_pieces(Crew& crew) {
  const Job& job = crew.job;
  try {
    const ScratchLease scratch(job.scratch_bytes);
    for (;;) {
      const std::int64_t first = crew.next.fetch_add(job.piece, std::memory_order_relaxed);
      if (first >= job.count) return;
      job.function(job.context, first, std::min(first + job.piece, job.count), scratch.data());
    }
  } catch (...) {
    crew.next.store(job.count, std::memory_order_relaxed);  // no further chunks start
    if (!crew.failed.exchange(true)) crew.job.error = std::current_exception();
  }
}

void ThreadPool::work(Crew& crew) {
  std::uint64_t seen = 0;  // number of the last job this worker joined
  const auto has_work = [&] {
    const std::uint64_t state = crew.state.load(std::memory_order_acquire);
    return (state & kOpen) && state >> kNumberShift != seen;
  };
  for (;;) {
    const auto awake = [&] { return has_work() || crew.stop.load(std::memory_order_relaxed); };
    if (!spin_until(awake)) {
      const std::uint32_t before = crew.wake.load();
      crew.sleepers.fetch_add(1);
      if (!has_work() && !crew.stop.load()) crew.wake.wait(before);
      crew.sleepers.fetch_sub(1);
    }
    if (crew.stop.load()) return;

    std::uint64_t state = crew.state.load(std::memory_order_acquire);
    bool joined = false;
    while (!joined && (state & kOpen) && state >> kNumberShift != seen)
      joined = crew.state.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel);
    if (!joined) continue;
    seen = state >> kNumberShift;
    run_pieces(crew);
    crew.state.fetch_sub(1, std::memory_order_release);
  }
}

void ThreadPool::start_workers() {
  // Signals go to the program's own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    crew_->workers.reserve(static_cast<std::size_t>(threads_ - 1));
    for (int i = 1; i < threads_; ++i) {
      crew_->workers.emplace_back([crew = crew_.get()] { work(*crew); });
      pthread_setname_np(crew_->workers.back().native_handle(), "sinter");
    }
  } catch (const std::exception&) {
    // No more threads available: the running ones do the work.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace sinter
