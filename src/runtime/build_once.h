// BuildOnce: concurrent requests for one key run one build. The first thread builds; the others
// wait for that build and get its result or its error. Different keys build in parallel. Nothing is
// kept after the build: the caller has a cache.
#pragma once

#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "src/runtime/fork_listener.h"
#include "src/runtime/under_way.h"

namespace sinter {

// Key needs ==.
template <typename Key, typename Value>
class BuildOnce {
 public:
  // `build` runs without a lock held. It must check the caller's cache again, because another build
  // may have finished in the meantime, and store its result there. Where waiting would deadlock (a
  // build that requests its own key, builds that request each other's), a key is built more than
  // once.
  template <typename F>
  Value run(const Key& key, F&& build) {
    const auto own = std::make_shared<Build>();
    const std::shared_ptr<Build> first = join(key, own);
    if (first != own) {
      if (first->under_way.wait()) return first->get();
      return build();
    }
    try {
      own->value = build();
    } catch (...) {
      own->error = std::current_exception();
    }
    end(own);  // before waiters wake, so that a call after a failure retries
    own->under_way.finish();
    return own->get();
  }

 private:
  struct Build {
    UnderWay under_way;
    std::optional<Value> value;  // written before finish(), read after it
    std::exception_ptr error;

    Value get() const {
      if (error) std::rethrow_exception(error);
      return *value;
    }
  };
  struct Entry {
    Key key;
    std::shared_ptr<Build> build;
  };

  // The running build of this key; `own` if there was none.
  std::shared_ptr<Build> join(const Key& key, const std::shared_ptr<Build>& own) {
    const std::lock_guard lock(mutex_);
    for (Entry& entry : builds_)
      if (entry.key == key) {
        if (entry.build->under_way.abandoned()) entry.build = own;
        return entry.build;
      }
    builds_.push_back({key, own});
    return own;
  }

  void end(const std::shared_ptr<Build>& build) {
    const std::lock_guard lock(mutex_);
    std::erase_if(builds_, [&](const Entry& entry) { return entry.build == build; });
  }

  std::mutex mutex_;
  std::vector<Entry> builds_;  // running builds; few
  ForkListener fork_listener_{[this] { mutex_.lock(); }, [this](bool) { mutex_.unlock(); }};
};

}  // namespace sinter
