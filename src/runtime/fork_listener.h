// What holds locks or threads must know of fork(): a child gets the memory but not the threads.
// A ForkListener is told before and after, in the order: all before, fork, all after.
#pragma once

#include <functional>

namespace sinter {

// Declare it as the last member: it may be called as soon as it is made, until it is gone.
class ForkListener {
 public:
  // `before` takes the locks; `after(in_child)` gives them back. A child has the forking thread
  // only.
  ForkListener(std::function<void()> before, std::function<void(bool in_child)> after);
  ~ForkListener();
  ForkListener(const ForkListener&) = delete;
  ForkListener& operator=(const ForkListener&) = delete;

 private:
  friend struct ForkListeners;
  std::function<void()> before_;
  std::function<void(bool)> after_;
  ForkListener* next_ = nullptr;
  ForkListener* previous_ = nullptr;
};

}  // namespace sinter
