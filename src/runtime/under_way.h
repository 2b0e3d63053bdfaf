// UnderWay: work that one thread does and others may wait for, such as a build. One wait-for graph
// covers all of it, so that waiting never deadlocks, not even in a forked child, which has none of
// the other threads.
// OneAtATime: a recursive lock that avoids deadlocks in the same way.
#pragma once

#include <cstdint>
#include <memory>
#include <thread>

namespace sinter {

class UnderWay {
 public:
  UnderWay();  // the calling thread does it, and holds no lock of a ForkListener
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

  void finish();
  // True when it is finished. False at once where waiting would deadlock: the calling thread does
  // it itself, its thread waits for the calling one, or it was abandoned.
  bool wait() const;
  // This process was forked, and its thread is not here. Takes no lock.
  bool abandoned() const;

 private:
  friend class OneAtATime;
  friend struct Waiters;

  const std::thread::id thread_;
  const std::uint64_t forks_;  // the process's generation
  bool finished_ = false;      // under the graph's lock
};

class OneAtATime {
 public:
  // Waits for the thread that holds the lock. Returns at once, without it, where that is the
  // calling thread or waits for it: two threads that take two locks in opposite orders run side by
  // side rather than never.
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
  std::shared_ptr<const UnderWay> holder_;  // under the graph's lock
};

}  // namespace sinter
