// UnderWay: work that one thread does and others may wait for, such as a build. One wait-for graph
// covers all of it, so that waiting never deadlocks, not even in a forked child, where the other
// threads are gone.
// OneAtATime: a recursive lock that avoids deadlocks the same way.
#pragma once

#include <cstdint>
#include <memory>
#include <thread>

namespace sinter {

class UnderWay {
 public:
  UnderWay();  // the calling thread does the work; it must hold no lock of a ForkListener
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

  void finish();
  // True when the work is finished. False at once if waiting would deadlock: the calling thread
  // does the work itself, its thread waits for the calling one, or the work was abandoned.
  bool wait() const;
  // True if this process was forked and the working thread did not survive. Takes no lock.
  bool abandoned() const;

 private:
  friend class OneAtATime;
  friend struct Waiters;

  const std::thread::id thread_;
  const std::uint64_t forks_;  // fork generation of the process
  bool finished_ = false;      // guarded by the graph's lock
};

class OneAtATime {
 public:
  // Waits for the thread that holds the lock. Returns at once without the lock if the holder is the
  // calling thread or waits for it: two threads that take two locks in opposite orders then run
  // concurrently instead of deadlocking.
  class Turn {
   public:
    explicit Turn(OneAtATime& lock);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    OneAtATime& lock_;
    std::shared_ptr<UnderWay> own_;
  };

 private:
  std::shared_ptr<const UnderWay> holder_;  // guarded by the graph's lock
};

}  // namespace sinter
