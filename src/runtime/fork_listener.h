// Callbacks around fork(), for owners of locks or threads: a child inherits the memory but not the
// threads. Order: all `before`, fork, all `after`.
#pragma once

#include <functional>

namespace sinter {

// Declare it as the last member: it may be called from construction until destruction.
class ForkListener {
 public:
  // `before` takes the locks, `after(in_child)` releases them. A child has only the forking thread.
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
