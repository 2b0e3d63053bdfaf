// Fibers: functions that can pause and resume, on one host thread. In: a function. Out: control
// returns when it pauses or finishes. A switch costs a few nanoseconds where there is assembly for
// the machine (x86-64, aarch64), a system call elsewhere.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace sinter {

inline constexpr std::size_t kFiberStackBytes = std::size_t{64} << 10;

// A stack and the function running on it; reused for one function after another.
class Fiber {
 public:
  using Function = void (*)(void* argument);

  Fiber();  // DeviceError if there is no memory for a stack
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs the function until it pauses or returns.
  void start(Function function, void* argument);
  // Resumes a paused function.
  void resume();
  bool finished() const { return finished_; }

  // On the fiber: returns to the caller of start() or resume().
  void pause();
  // Drops a paused function without destroying the objects on its stack.
  void abandon();

 private:
  struct Place;  // a suspended context: registers on its stack

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

// This thread's idle fibers, kept until the thread ends.
class IdleFibers {
 public:
  static std::unique_ptr<Fiber> take();
  static void give_back(std::unique_ptr<Fiber> fiber);
};

}  // namespace sinter
