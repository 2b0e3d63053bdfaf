// Short waits: a CPU pause hint, and a spin lock for critical sections of a few instructions.
#pragma once

#include <atomic>
#include <thread>

namespace sinter {

// Tells the core that this is a spin loop.
inline void pause_core() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

class SpinLock {
 public:
  void lock() {
    for (int tries = 0; flag_.test_and_set(std::memory_order_acquire); ++tries) {
      // The holder may have been preempted: yield the core to it.
      if (tries < 64)
        pause_core();
      else
        std::this_thread::yield();
    }
  }
  void unlock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag flag_ = ATOMIC_FLAG_INIT;
};

}  // namespace sinter
