// count(): all threads, per call, with a software event that every Linux has (thread run time);
// instructions and memory traffic if the machine exposes them.
#include "src/profile/counters.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "src/runtime/temporary_directory.h"

namespace sinter {
namespace {

// linux/perf_event.h: PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK.
constexpr PerfEvent kTaskClock{1, 1, 0, 0};
constexpr std::int64_t kMs = 1'000'000;

// Nanoseconds this thread has run.
std::int64_t own_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// Runs until the given time has been used, even on a busy machine.
void burn(std::int64_t nanoseconds) {
  for (const std::int64_t end = own_time() + nanoseconds; own_time() < end;) {
  }
}

// Threads that exist before the counting and burn time on request.
class Workers {
 public:
  explicit Workers(int threads) {
    for (int i = 0; i < threads; ++i)
      threads_.emplace_back([this] {
        for (int seen = 0;;) {
          order_.wait(seen);
          seen = order_.load();
          if (seen < 0) return;
          burn(10 * kMs);
          ++done_;
          done_.notify_all();
        }
      });
  }
  ~Workers() {
    order_ = -1;
    order_.notify_all();
    for (std::thread& each : threads_) each.join();
  }

  void burn_10_ms_each() {
    done_ = 0;
    ++order_;
    order_.notify_all();
    for (int done = 0; done < static_cast<int>(threads_.size()); done = done_) done_.wait(done);
  }

 private:
  std::atomic<int> order_{0};
  std::atomic<int> done_{0};
  std::vector<std::thread> threads_;
};

class ThreadTime : public testing::Test {
 protected:
  void SetUp() override {
    const CounterReading reading = time_of([] {}, 1);
    if (!reading.instructions) GTEST_SKIP() << reading.why_no_instructions;
  }
  static CounterReading time_of(const std::function<void()>& work, int calls) {
    return count(work, calls, {kTaskClock, "/nowhere"});
  }
  static std::int64_t ns_per_call(const std::function<void()>& work, int calls) {
    const CounterReading reading = time_of(work, calls);
    EXPECT_EQ(reading.why_no_instructions, "");
    return reading.instructions.value_or(-1);
  }
};

// The upper bounds are wide: threads take time to start, and a busy machine's caches are cold.

TEST_F(ThreadTime, IsThatOfOneCall) {
  int calls = 0;
  const std::int64_t ns = ns_per_call([&] { burn(kMs), ++calls; }, 10);
  EXPECT_EQ(calls, 10);
  EXPECT_GE(ns, kMs * 9 / 10);
  EXPECT_LT(ns, 4 * kMs);
}

TEST_F(ThreadTime, IsNotThatOfSleepOrOfTheTimeBefore) {
  burn(20 * kMs);
  EXPECT_LT(ns_per_call([] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }, 1),
            3 * kMs);
}

TEST_F(ThreadTime, AddsUpTheThreadsThereAre) {
  for (const int threads : {1, 2, 4}) {
    Workers workers(threads);
    const std::int64_t ns = ns_per_call([&] { workers.burn_10_ms_each(); }, 2);
    EXPECT_GE(ns, threads * 9 * kMs);
    EXPECT_LT(ns, threads * 16 * kMs);
  }
}

TEST_F(ThreadTime, CountsThreadsThatStartAndEndMeanwhile) {
  const auto work = [] {
    std::thread one([] {
      burn(5 * kMs);
      std::thread([] { burn(5 * kMs); }).join();
    });
    std::thread two([] { burn(10 * kMs); });
    one.join();
    two.join();
  };
  const std::int64_t ns = ns_per_call(work, 2);
  EXPECT_GE(ns, 18 * kMs);
  EXPECT_LT(ns, 40 * kMs);
}

TEST_F(ThreadTime, KeepsTheCountOfAThreadThatEnds) {
  std::atomic<bool> go{false};
  std::thread worker([&] {
    go.wait(false);
    burn(10 * kMs);
  });
  const std::int64_t ns = ns_per_call(
      [&] {
        go = true;
        go.notify_all();
        worker.join();
      },
      1);
  EXPECT_GE(ns, 9 * kMs);
  EXPECT_LT(ns, 25 * kMs);
}

TEST_F(ThreadTime, SurvivesThreadsThatComeAndGoWhileCountersOpen) {
  std::atomic<bool> end{false};
  std::thread maker([&] {
    while (!end) std::thread([] {}).join();
  });
  for (int i = 0; i < 20; ++i) {
    const CounterReading reading = time_of([] { burn(kMs / 10); }, 1);
    EXPECT_NE(reading.instructions.has_value(), !reading.why_no_instructions.empty());
    EXPECT_GE(reading.instructions.value_or(kMs), kMs / 20);
  }
  end = true;
  maker.join();
}

TEST_F(ThreadTime, ExceptionsPropagateAndCountersAreClosed) {
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = open_files();
  EXPECT_THROW(count([] { throw std::runtime_error("work"); }, 3, {kTaskClock, "/nowhere"}),
               std::runtime_error);
  ns_per_call([] {}, 1);
  EXPECT_EQ(open_files(), before);
}

TEST(Counters, SayWhyTheyDoNotCount) {
  int calls = 0;
  // No event source has this type.
  const CounterReading reading = count([&] { ++calls; }, 3, {{0xfffffff0, 0, 0, 0}, "/nowhere"});
  EXPECT_EQ(calls, 3) << "the work is done all the same";
  EXPECT_FALSE(reading.instructions);
  EXPECT_FALSE(reading.bytes);
  EXPECT_NE(reading.why_no_instructions, "");
  EXPECT_EQ(reading.why_no_bytes.find("no uncore_imc counters"), 0u) << reading.why_no_bytes;
}

TEST(Counters, OfInstructionsGrowWithTheWork) {
  const auto loop = [](std::int64_t rounds) {
    return [rounds] {
      // Two to five instructions a round, whatever the optimiser does.
      for (volatile std::int64_t i = 0; i < rounds;) i = i + 1;
    };
  };
  constexpr std::int64_t kRounds = 1'000'000;
  const CounterReading reading = count(loop(kRounds), 5);
  if (!reading.instructions) GTEST_SKIP() << reading.why_no_instructions;
  EXPECT_GT(*reading.instructions, 2 * kRounds);
  EXPECT_LT(*reading.instructions, 12 * kRounds);
  const CounterReading twice = count(loop(2 * kRounds), 5);
  EXPECT_GT(*twice.instructions, *reading.instructions * 3 / 2);
}

TEST(Counters, OfMemoryAreSummedAndWeighed) {
  // A made-up controller whose "reads" are the nanoseconds of processor 0 (software event 0).
  const TemporaryDirectory root;
  const std::string controller = root.path() + "/uncore_imc_0";
  std::filesystem::create_directories(controller + "/events");
  std::filesystem::create_directories(controller + "/format");
  const auto write = [&](const std::string& path, const std::string& text) {
    std::ofstream(controller + "/" + path) << text << "\n";
  };
  write("type", "1");
  write("cpumask", "0");
  write("format/event", "config:0-7");
  for (const std::string name : {"data_reads", "data_writes"}) {
    write("events/" + name, "event=0x00");
    write("events/" + name + ".scale", "0.5");
    write("events/" + name + ".unit", "KiB");
  }
  const auto nap = [] { std::this_thread::sleep_for(std::chrono::milliseconds(10)); };
  const CounterReading reading = count(nap, 2, {kTaskClock, root.path()});
  if (!reading.bytes) GTEST_SKIP() << reading.why_no_bytes;
  // Two events of half a KiB a nanosecond.
  EXPECT_GT(*reading.bytes, 10 * kMs * 1024 * 9 / 10);
  EXPECT_LT(*reading.bytes, 100 * kMs * 1024);
}

TEST(PerfEvents, ScaleByTheirTurns) {
  EXPECT_EQ(scaled({100, 50, 50}), 100);
  EXPECT_EQ(scaled({100, 50, 25}), 200);
  EXPECT_EQ(scaled({0, 0, 0}), 0) << "a thread that slept";
  EXPECT_EQ(scaled({0, 50, 0}), std::nullopt) << "never had its turn";
  EXPECT_GT(*scaled({UINT64_MAX, UINT64_MAX, 1}), 1e38) << "no overflow";
}

TEST(PerfEvents, ErrorsSayWhatWouldHelp) {
  const std::string none =
      "this machine shows no hardware counters to its programs (a virtual machine, usually)";
  for (const int error : {ENOENT, ENODEV, EOPNOTSUPP})
    EXPECT_EQ(why_not_counted(error, 2, 2), none);
  for (const int error : {EACCES, EPERM})
    EXPECT_EQ(why_not_counted(error, 4, 2),
              "perf_event_paranoid is 4: counters need 2 or less (sysctl "
              "kernel.perf_event_paranoid=2)");
  EXPECT_NE(why_not_counted(EACCES, 2, 0).find("need 0 or less"), std::string::npos);
  for (const std::optional<int> paranoid : {std::optional(1), std::optional<int>()})
    EXPECT_NE(why_not_counted(EPERM, paranoid, 2).find("CAP_PERFMON"), std::string::npos);
  EXPECT_NE(why_not_counted(ENOSYS, {}, 2).find("Linux"), std::string::npos);
  EXPECT_NE(why_not_counted(EMFILE, {}, 2).find("ulimit"), std::string::npos);
  for (const int error : {EINVAL, E2BIG, EBUSY, EINTR})
    EXPECT_EQ(why_not_counted(error, {}, 2).find('\n'), std::string::npos);
}

}  // namespace
}  // namespace sinter
