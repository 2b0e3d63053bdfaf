// Fibers: functions that can stop in the middle and go on later, on one thread of the host.
// In: a function. Out: control comes back when it pauses or returns. Switching costs a few
// nanoseconds where there is assembly for the machine (x86-64, aarch64), a system call elsewhere.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace sinter {

inline constexpr std::size_t kFiberStackBytes = std::size_t{64} << 10;

// A stack with what runs on it, used for one function after the other.
class Fiber {
 public:
  using Function = void (*)(void* argument);

  Fiber();  // DeviceError where there is no memory for a stack
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs the function until it pauses or returns.
  void start(Function function, void* argument);
  // Goes on with a function that paused.
  void resume();
  bool finished() const { return finished_; }

  // On the fiber: back to who started or resumed it.
  void pause();
  // Forgets a function that paused: nothing on its stack is destroyed.
  void abandon();

 private:
  struct Place;  // where something stopped: registers on its stack

  static void run();
  void prepare_stack();
  void switch_to_fiber();
  void leave_for_ever();

  void* mapping_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  char* stack_ = nullptr;
  std::unique_ptr<Place> here_;
  std::unique_ptr<Place> resumer_;
  Function function_ = nullptr;
  void* argument_ = nullptr;
  bool prepared_ = false;  // waits in run() for a function
  bool finished_ = true;
  bool abandoned_ = false;
};

// This thread's fibers that have nothing to do. Kept until the thread ends.
class IdleFibers {
 public:
  static std::unique_ptr<Fiber> take();
  static void give_back(std::unique_ptr<Fiber> fiber);
};

}  // namespace sinter
