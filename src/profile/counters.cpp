// One counter per existing thread, inherited by the threads it starts later, and one per memory
// controller. The count of a thread that ends is kept.
#include "src/profile/counters.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "src/base/check.h"

namespace sinter {
namespace {

namespace fs = std::filesystem;

constexpr int kAttempts = 8;
constexpr int kThreadsNeed = 2;  // required perf_event_paranoid
constexpr int kMachineNeeds = 0;

// In order, with this thread last, so that starting and stopping the other counters is not counted;
// empty if there is no /proc.
std::vector<int> thread_ids() {
  std::vector<int> ids;
  std::error_code error;
  for (fs::directory_iterator it("/proc/self/task", error), end; !error && it != end;
       it.increment(error))
    ids.push_back(std::atoi(it->path().filename().c_str()));
  std::sort(ids.begin(), ids.end());
  const int self = std::atoi(fs::read_symlink("/proc/thread-self", error).filename().c_str());
  const auto here = std::find(ids.begin(), ids.end(), self);
  if (here != ids.end()) std::rotate(here, here + 1, ids.end());
  return ids;
}

// Counters that start and stop together, each with the value of one count; or why there are none.
struct CounterGroup {
  struct Member {
    PerfCounter counter;
    double weight;
  };
  std::vector<Member> members;
  std::string why_not;

  void start() const {
    for (const Member& each : members) each.counter.start();
  }
  void stop() const {  // in reverse order: this thread first
    for (auto it = members.rbegin(); it != members.rend(); ++it) it->counter.stop();
  }

  std::optional<std::int64_t> per_call(int calls) {
    if (members.empty()) return std::nullopt;
    double sum = 0;
    for (const Member& each : members) {
      const auto count = each.counter.read();
      const auto value = count ? scaled(*count) : std::nullopt;
      if (!value) {
        why_not = count ? "the hardware counters were busy with other events all the time"
                        : "a counter could be opened but not read";
        return std::nullopt;
      }
      sum += *value * each.weight;
    }
    return std::llround(sum / calls);
  }
};

CounterGroup refused(std::string why) { return {{}, std::move(why)}; }

CounterGroup open_threads(const PerfEvent& event, const std::vector<int>& ids) {
  CounterGroup group;
  for (const int id : ids) {
    PerfCounter counter = PerfCounter::open_thread(event, id);
    if (counter.error() == ESRCH) continue;  // the thread has ended
    if (counter.error())
      return refused(why_not_counted(counter.error(), perf_event_paranoid(), kThreadsNeed));
    group.members.push_back({std::move(counter), 1});
  }
  if (group.members.empty())
    return refused(ids.empty() ? why_not_counted(ENOSYS, std::nullopt, kThreadsNeed)
                               : "/proc shows other threads than those of this process");
  return group;
}

CounterGroup open_all_threads(const PerfEvent& event) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::vector<int> before = thread_ids();
    CounterGroup group = open_threads(event, before);
    if (!group.why_not.empty()) return group;
    // A thread started in the meantime may be counted by its creator's counter, not at all, or
    // twice.
    const std::vector<int> after = thread_ids();
    if (std::all_of(after.begin(), after.end(), [&](int id) {
          return std::find(before.begin(), before.end(), id) != before.end();
        }))
      return group;
  }
  return refused("threads start so often that they cannot be counted");
}

CounterGroup open_memory(const std::string& directory) {
  const MemoryEvents found = find_memory_events(directory);
  CounterGroup group{{}, found.why_none};
  for (const MemoryEvent& each : found.events)
    for (const int processor : each.processors) {
      PerfCounter counter = PerfCounter::open_processor(each.event, processor);
      if (counter.error())
        return refused(why_not_counted(counter.error(), perf_event_paranoid(), kMachineNeeds));
      group.members.push_back({std::move(counter), each.bytes});
    }
  return group;
}

}  // namespace

CounterReading count(const std::function<void()>& work, int calls, const CounterSources& sources) {
  SINTER_ASSERT(work && calls > 0, "{} calls", calls);
  CounterGroup memory = open_memory(sources.event_sources);
  CounterGroup threads = open_all_threads(sources.thread_event);
  memory.start();
  threads.start();
  for (int i = 0; i < calls; ++i) work();
  threads.stop();
  memory.stop();
  CounterReading reading;
  reading.instructions = threads.per_call(calls);
  reading.bytes = memory.per_call(calls);
  reading.why_no_instructions = std::move(threads.why_not);
  reading.why_no_bytes = std::move(memory.why_not);
  return reading;
}

}  // namespace sinter
