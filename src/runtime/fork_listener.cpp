// The list of listeners. pthread_atfork cannot be undone, so one registration serves all of them.
// The list is never destroyed: a fork may happen while the process exits.
#include "src/runtime/fork_listener.h"

#include <pthread.h>

#include <mutex>
#include <utility>

namespace sinter {

struct ForkListeners {
  std::mutex mutex;
  ForkListener* first = nullptr;

  static ForkListeners& instance() {
    static ForkListeners& listeners = *new ForkListeners;
    return listeners;
  }

  ForkListeners() { pthread_atfork(&before, &after_in_parent, &after_in_child); }

  void add(ForkListener& listener) {
    const std::lock_guard lock(mutex);
    listener.next_ = first;
    if (first) first->previous_ = &listener;
    first = &listener;
  }

  void remove(ForkListener& listener) {
    const std::lock_guard lock(mutex);
    (listener.previous_ ? listener.previous_->next_ : first) = listener.next_;
    if (listener.next_) listener.next_->previous_ = listener.previous_;
  }

  static void before() {
    instance().mutex.lock();
    for (ForkListener* it = instance().first; it; it = it->next_) it->before_();
  }
  static void after(bool in_child) {
    for (ForkListener* it = instance().first; it; it = it->next_) it->after_(in_child);
    instance().mutex.unlock();
  }
  static void after_in_parent() { after(false); }
  static void after_in_child() { after(true); }
};

ForkListener::ForkListener(std::function<void()> before, std::function<void(bool)> after)
    : before_(std::move(before)), after_(std::move(after)) {
  ForkListeners::instance().add(*this);
}

ForkListener::~ForkListener() { ForkListeners::instance().remove(*this); }

}  // namespace sinter
