// The thread pool: every program runs once, exceptions propagate, nested and concurrent calls work,
// a forked child does not hang.
#include "src/cpu/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>

namespace sinter {
namespace {

// Sums 0 .. count-1 through the pool.
std::int64_t parallel_sum(ThreadPool& pool, std::int64_t count) {
  std::atomic<std::int64_t> sum{0};
  pool.parallel_for(count, 0, [&](std::int64_t first, std::int64_t last, char*) {
    std::int64_t part = 0;
    for (std::int64_t i = first; i < last; ++i) part += i;
    sum += part;
  });
  return sum;
}

TEST(ThreadPool, EveryProgramRunsOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    for (const std::int64_t count : {0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 100, 1000, 4097}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(count));
      pool.parallel_for(count, 0, [&](std::int64_t first, std::int64_t last, char*) {
        for (std::int64_t i = first; i < last; ++i) ++runs[static_cast<std::size_t>(i)];
      });
      for (const auto& run : runs) ASSERT_EQ(run, 1) << threads << " threads, " << count;
    }
  }
}

TEST(ThreadPool, WorkersTakePart) {
  ThreadPool pool(4);
  std::mutex mutex;
  std::set<std::thread::id> seen;
  // Chunks take long enough for every worker to arrive.
  pool.parallel_for(64, 0, [&](std::int64_t, std::int64_t, char*) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  EXPECT_GT(seen.size(), 1u);
  EXPECT_LE(seen.size(), 4u);
}

TEST(ThreadPool, WorkersWakeAfterSleep) {
  ThreadPool pool(2);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(parallel_sum(pool, 1000), 499'500);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(ThreadPool, ManyCallsInARow) {
  ThreadPool pool(3);
  for (int i = 0; i < 20'000; ++i) ASSERT_EQ(parallel_sum(pool, 10), 45);
}

TEST(ThreadPool, ScratchIsAlignedAndNotShared) {
  ThreadPool pool(4);
  for (const std::size_t bytes : {64ul, 1000ul, 100'000ul, 10ul}) {
    std::atomic<int> mixed_up{0};
    pool.parallel_for(32, bytes, [&](std::int64_t first, std::int64_t, char* scratch) {
      if (reinterpret_cast<std::uintptr_t>(scratch) % 64 != 0) ++mixed_up;
      auto* mine = reinterpret_cast<volatile std::int64_t*>(scratch);
      *mine = first;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      if (*mine != first) ++mixed_up;
    });
    EXPECT_EQ(mixed_up, 0);
  }
}

TEST(ThreadPool, ExceptionReachesTheCaller) {
  ThreadPool pool(4);
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> started{0};
    try {
      pool.parallel_for(1000, 0, [&](std::int64_t first, std::int64_t, char*) {
        ++started;
        if (first >= 0) throw std::runtime_error("piece " + std::to_string(first));
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(std::string(error.what()).find("piece "), 0u);
    }
    EXPECT_LE(started, 4);  // no others were started
    EXPECT_EQ(parallel_sum(pool, 100), 4950);
  }
}

TEST(ThreadPool, NestedCallsRunOnTheirCaller) {
  ThreadPool pool(3);
  std::atomic<std::int64_t> total{0};
  std::atomic<int> elsewhere{0};
  pool.parallel_for(12, 128, [&](std::int64_t first, std::int64_t last, char* outer) {
    for (std::int64_t i = first; i < last; ++i) {
      const auto self = std::this_thread::get_id();
      pool.parallel_for(10, 128, [&](std::int64_t a, std::int64_t b, char* inner) {
        if (std::this_thread::get_id() != self || inner == outer) ++elsewhere;
        total += b - a;
      });
    }
  });
  EXPECT_EQ(total, 120);
  EXPECT_EQ(elsewhere, 0);
}

TEST(ThreadPool, ManyUserThreadsAtOnce) {
  ThreadPool pool(3);
  std::atomic<int> wrong{0};
  std::vector<std::thread> users;
  for (int user = 0; user < 8; ++user)
    users.emplace_back([&] {
      for (int i = 0; i < 2000; ++i)
        if (parallel_sum(pool, 50 + i % 50) != (50 + i % 50) * (49 + i % 50) / 2) ++wrong;
    });
  for (std::thread& user : users) user.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, MoreThreadsThanCores) {
  ThreadPool pool(64);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(parallel_sum(pool, 10'000), 49'995'000);
}

TEST(ThreadPool, IdlePoolsComeAndGo) {
  for (int i = 0; i < 50; ++i) {
    ThreadPool pool(4);
    if (i % 2) parallel_sum(pool, 100);
  }
}

TEST(ThreadPool, ForkedChildHasItsOwnWorkers) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer allows no threads in a forked child";
#endif
  ThreadPool pool(3);
  EXPECT_EQ(parallel_sum(pool, 1000), 499'500);
  std::atomic<bool> stop{false};
  std::thread busy([&] {  // so that some forks happen during a job
    while (!stop) parallel_sum(pool, 1000);
  });
  for (int i = 0; i < 10; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      bool good = true;
      for (int call = 0; call < 100; ++call) good = good && parallel_sum(pool, 1000) == 499'500;
      _exit(good ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  busy.join();
  EXPECT_EQ(parallel_sum(pool, 1000), 499'500);
}

}  // namespace
}  // namespace sinter
