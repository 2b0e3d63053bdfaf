// One mutex and one condition variable serve all waits: they are rare and long.
#include "src/runtime/under_way.h"

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "src/runtime/fork_listener.h"

namespace sinter {

// Never destroyed: builds may happen while the process exits.
struct Waiters {
  std::mutex mutex;
  std::unique_ptr<std::condition_variable> changed = std::make_unique<std::condition_variable>();
  std::vector<std::unique_ptr<std::condition_variable>> of_parents;  // kept but never used again
  std::map<std::thread::id, const UnderWay*> waits_for;
  // The process's fork generation, and the only thread that survived the last fork.
  std::atomic<std::uint64_t> forks = 0;
  std::atomic<std::thread::id> survivor;
  ForkListener fork_listener{[this] { mutex.lock(); },
                             [this](bool in_child) {
                               if (in_child) begin_child();
                               mutex.unlock();
                             }};

  static Waiters& instance() {
    static Waiters& waiters = *new Waiters;
    return waiters;
  }

  void begin_child() {
    survivor = std::this_thread::get_id();
    ++forks;
    waits_for.clear();
    // Destroying or signalling a condition variable whose waiters will never wake can hang.
    of_parents.push_back(std::move(changed));
    changed = std::make_unique<std::condition_variable>();
  }

  // Follows the wait-for graph from the thread that runs `wanted`; true if it reaches the calling
  // thread.
  bool is_cycle(const UnderWay* wanted) const {
    while (wanted && !wanted->finished_) {
      if (wanted->thread_ == std::this_thread::get_id()) return true;
      const auto next = waits_for.find(wanted->thread_);
      wanted = next == waits_for.end() ? nullptr : next->second;
    }
    return false;
  }

  bool wait(const UnderWay& wanted, std::unique_lock<std::mutex>& lock) {
    const std::thread::id self = std::this_thread::get_id();
    while (!wanted.finished_) {
      if (wanted.abandoned() || is_cycle(&wanted)) return false;
      waits_for[self] = &wanted;
      changed->wait(lock);
      waits_for.erase(self);
    }
    return true;
  }
};

UnderWay::UnderWay() : thread_(std::this_thread::get_id()), forks_(Waiters::instance().forks) {}

void UnderWay::finish() {
  Waiters& waiters = Waiters::instance();
  const std::lock_guard lock(waiters.mutex);
  finished_ = true;
  waiters.changed->notify_all();
}

bool UnderWay::wait() const {
  Waiters& waiters = Waiters::instance();
  std::unique_lock lock(waiters.mutex);
  return waiters.wait(*this, lock);
}

bool UnderWay::abandoned() const {
  const Waiters& waiters = Waiters::instance();
  return forks_ != waiters.forks && thread_ != waiters.survivor.load();
}

OneAtATime::Turn::Turn(OneAtATime& lock) : lock_(lock), own_(std::make_shared<UnderWay>()) {
  Waiters& waiters = Waiters::instance();
  std::unique_lock guard(waiters.mutex);
  while (const std::shared_ptr<const UnderWay> before = lock_.holder_) {
    if (before->abandoned()) break;
    if (!waiters.wait(*before, guard)) {
      own_.reset();
      return;
    }
  }
  lock_.holder_ = own_;
}

OneAtATime::Turn::~Turn() {
  if (!own_) return;
  Waiters& waiters = Waiters::instance();
  const std::lock_guard lock(waiters.mutex);
  if (lock_.holder_ == own_) lock_.holder_.reset();
  own_->finished_ = true;
  waiters.changed->notify_all();
}

}  // namespace sinter
