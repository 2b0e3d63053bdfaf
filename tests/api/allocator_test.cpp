// set_allocator(): memory from the caller's functions, and their mistakes.
#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

#include "tests/support/errors.h"
#include "tests/support/gpu.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

// An allocator of host memory that counts its calls.
class CountingAllocator {
 public:
  Allocator functions() {
    return {[this](std::size_t bytes, std::size_t alignment, void* stream) {
              return take(bytes, alignment, stream);
            },
            [this](void* data, std::size_t bytes, void* stream) { free(data, bytes, stream); }};
  }
  std::size_t in_use() const {
    const std::lock_guard lock(mutex_);
    std::size_t bytes = 0;
    for (const auto& [data, each] : blocks_) bytes += each;
    return bytes;
  }
  int taken() const { return taken_; }
  int wrong() const { return wrong_; }

 private:
  void* take(std::size_t bytes, std::size_t alignment, void* stream) {
    ++taken_;
    if (bytes == 0 || stream) ++wrong_;
    void* data = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    const std::lock_guard lock(mutex_);
    blocks_[data] = bytes;
    return data;
  }
  void free(void* data, std::size_t bytes, void* stream) {
    const std::lock_guard lock(mutex_);
    const auto it = blocks_.find(data);
    if (it == blocks_.end() || it->second != bytes || stream) ++wrong_;
    blocks_.erase(data);
    std::free(data);
  }

  mutable std::mutex mutex_;
  std::map<void*, std::size_t> blocks_;
  std::atomic<int> taken_ = 0;
  std::atomic<int> wrong_ = 0;
};

class AllocatorTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (device() != "cpu") SINTER_NEEDS_DEVICE(device());
  }
  ~AllocatorTest() override {
    if (!IsSkipped()) reset_allocator(device());
  }
  static std::string device() { return GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(Devices, AllocatorTest, ::testing::Values("cpu", "simt"),
                         [](const auto& each) {
                           return std::string(each.param) == "cpu" ? "Cpu" : "Simt";
                         });

TEST_P(AllocatorTest, GivesTheMemoryOfTensorsResultsAndIntermediates) {
  const auto f = compile([](const Tensor& t) { return softmax(t - mean(t), 0); }, {.fuse = false});
  const Tensor before = random_tensor(DType::f32, {30, 40}).to(device());
  const std::vector<Real> want = values_of(f(before).to("cpu"));
  CountingAllocator memory;
  const std::size_t in_use = device_memory(device()).in_use;
  set_allocator(device(), memory.functions());
  {
    const Tensor x = from_host(before.data(), {30, 40}, DType::f32, device());
    EXPECT_EQ(memory.in_use(), 30 * 40 * 4u);
    EXPECT_EQ(device_memory(device()).in_use, in_use + memory.in_use());
    const int taken = memory.taken();
    reset_peak_memory(device());
    const Tensor y = f(x);
    EXPECT_EQ(memory.taken(), taken + 2) << "the result and the arena";
    EXPECT_EQ(memory.in_use(), 2 * 30 * 40 * 4u);
    EXPECT_EQ(device_memory(device()).in_use, in_use + memory.in_use());
    EXPECT_GT(device_memory(device()).peak, device_memory(device()).in_use);
    EXPECT_TRUE(matches(y.to("cpu"), want));
    const Tensor empty = zeros({0}, DType::f32, device());
    reset_allocator(device());
    const int before_reset = memory.taken();
    const Tensor z = f(y);
    EXPECT_EQ(memory.taken(), before_reset) << "back to the device's own pool";
    EXPECT_GT(memory.in_use(), 0u) << "what it gave is still used";
  }
  EXPECT_EQ(memory.in_use(), 0u) << "and goes back to it";
  EXPECT_EQ(memory.wrong(), 0);
  EXPECT_EQ(device_memory(device()).in_use, in_use);
}

TEST_P(AllocatorTest, MemoryOfTheOwnPoolGoesBackToIt) {
  CountingAllocator memory;
  const std::size_t in_use = device_memory(device()).in_use;
  {
    const Tensor own = zeros({1000}, DType::f32, device());
    set_allocator(device(), memory.functions());
  }
  EXPECT_EQ(device_memory(device()).in_use, in_use);
  EXPECT_EQ(memory.taken(), 0);
  EXPECT_GT(device_memory(device()).cached, 0u);
}

TEST_P(AllocatorTest, KeepsItsFunctionsWhileTheirMemoryIsUsed) {
  auto memory = std::make_shared<CountingAllocator>();
  const std::weak_ptr<CountingAllocator> watched = memory;
  Tensor x;
  {
    const Allocator functions = memory->functions();
    set_allocator(device(),
                  {[memory, functions](std::size_t bytes, std::size_t alignment, void* stream) {
                     return functions.allocate(bytes, alignment, stream);
                   },
                   functions.free});
  }
  memory.reset();
  x = zeros({5}, DType::f32, device());
  reset_allocator(device());
  EXPECT_FALSE(watched.expired());
  x = Tensor();
  EXPECT_TRUE(watched.expired());
}

TEST_P(AllocatorTest, NoMemoryIsAnOutOfMemoryError) {
  set_allocator(device(), {[](std::size_t, std::size_t, void*) -> void* { return nullptr; },
                           [](void*, std::size_t, void*) {}});
  const std::size_t in_use = device_memory(device()).in_use;
  try {
    zeros({100}, DType::f32, device());
    FAIL();
  } catch (const OutOfMemoryError& error) {
    EXPECT_EQ(std::string(error.what())
                  .find("[" + device() + "] out of memory: the allocator has no 400 bytes, "),
              0u)
        << error.what();
  }
  EXPECT_EQ(device_memory(device()).in_use, in_use);
}

TEST_P(AllocatorTest, AnExceptionPropagates) {
  struct Refused : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  CountingAllocator memory;
  std::atomic<int> left = 2;
  Allocator functions = memory.functions();
  functions.allocate = [&, inner = functions.allocate](std::size_t bytes, std::size_t alignment,
                                                       void* stream) {
    if (left-- == 0) throw Refused("no");
    return inner(bytes, alignment, stream);
  };
  const auto f = compile([](const Tensor& t) { return std::pair(t + 1, exp(t)); });
  const Tensor x = ones({64}, DType::f32, device());
  f(x);
  set_allocator(device(), functions);
  left = 1;
  EXPECT_THROW(f(x), Refused);  // for the second result
  EXPECT_EQ(memory.in_use(), 0u) << "the first one is given back";
  left = 100;
  EXPECT_TRUE(matches(f(x).first.to("cpu"), std::vector<Real>(64, 2)));
}

TEST_P(AllocatorTest, MisalignedMemoryIsRefusedAndGivenBack) {
  alignas(64) static char block[4096];
  void* freed = nullptr;
  set_allocator(device(), {[&](std::size_t, std::size_t, void*) -> void* { return block + 8; },
                           [&](void* data, std::size_t, void*) { freed = data; }});
  try {
    zeros({100}, DType::f32, device());
    FAIL();
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("for 400 bytes, which is not a multiple of 64 bytes"),
              std::string::npos)
        << error.what();
  }
  EXPECT_EQ(freed, block + 8);
}

TEST_P(AllocatorTest, ManyThreads) {
  CountingAllocator memory;
  const auto f = compile([](const Tensor& t) { return exp(t) + 1; });
  const Tensor x = ones({64}, DType::f32, device());
  f(x);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 50; ++k) {
        if (k % 10 == 0) set_allocator(device(), memory.functions());
        if (k % 10 == 5) reset_allocator(device());
        f(f(x));
      }
    });
  for (std::thread& thread : threads) thread.join();
  reset_allocator(device());
  EXPECT_GT(memory.taken(), 0);
  EXPECT_EQ(memory.in_use(), 0u);
  EXPECT_EQ(memory.wrong(), 0);
}

TEST(AllocatorErrors, BothFunctionsAreNeeded) {
  EXPECT_USER_ERROR(set_allocator("cpu", {}),
                    "[set_allocator] the allocator for cpu has no allocate; reset_allocator() "
                    "removes one");
  EXPECT_USER_ERROR(
      set_allocator("cpu", {[](std::size_t, std::size_t, void*) -> void* { return nullptr; }, {}}),
      "[set_allocator] the allocator for cpu has no free; reset_allocator() removes one");
}

}  // namespace
}  // namespace sinter::testing
