// in_parallel(): every item once, no more threads than requested, errors in the items' order.
#include "src/runtime/in_parallel.h"

#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace sinter {
namespace {

TEST(InParallel, EveryPieceIsDoneOnce) {
  std::vector<int> done(100);
  in_parallel(done.size(), 4, [&](std::size_t i) { ++done[i]; });
  EXPECT_EQ(done, std::vector<int>(100, 1));
  in_parallel(0, 4, [](std::size_t) { FAIL(); });
}

TEST(InParallel, OneThreadIsTheCallers) {
  std::set<std::thread::id> threads;
  in_parallel(20, 1, [&](std::size_t) { threads.insert(std::this_thread::get_id()); });
  EXPECT_EQ(threads, std::set{std::this_thread::get_id()});
}

TEST(InParallel, NoMoreThreadsThanAskedFor) {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  in_parallel(200, 3, [&](std::size_t) {
    std::this_thread::yield();
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  });
  EXPECT_LE(threads.size(), 3u);
}

TEST(InParallel, TheFirstPiecesErrorIsThrownWhenAllAreDone) {
  std::vector<int> done(8);
  try {
    in_parallel(done.size(), 3, [&](std::size_t i) {
      ++done[i];
      if (i % 3 == 1) throw std::runtime_error(std::to_string(i));
    });
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "1");
  }
  EXPECT_EQ(done, std::vector<int>(8, 1));
}

}  // namespace
}  // namespace sinter
