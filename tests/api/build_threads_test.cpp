// Concurrent requests for programs: a signature is built once, others in parallel; all waiters get
// its error; the function runs on one thread at a time; and no thread waits forever, neither in a
// cycle of functions that request each other nor in a forked child.
#include <gtest/gtest.h>
#include <sinter/sinter.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <thread>

#include "src/runtime/registry.h"
#include "tests/support/slow_device.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

using testing_support::SlowDevice;

void sleep_ms(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

// Waits for `condition`, at most long enough for a loaded machine.
bool becomes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 20'000 && !condition(); ++i) sleep_ms(1);
  return condition();
}

void on_threads(int count, const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

class BuildThreads : public ::testing::Test {
 protected:
  void SetUp() override {
    register_device("slow", [] { return std::make_shared<SlowDevice>(); });
    device_ = std::dynamic_pointer_cast<SlowDevice>(find_device("slow"));
    device_->kernels().clear();
    device_->compiled = 0;
  }
  void TearDown() override {
    device_->on_compile = [] {};
  }

  static Tensor input(const Shape& shape) {
    return from_vector(std::vector<float>(static_cast<std::size_t>(shape.numel()), 2), shape,
                       "slow");
  }

  std::shared_ptr<SlowDevice> device_;
};

TEST_F(BuildThreads, OneSignatureIsBuiltOnce) {
  std::atomic<int> traces = 0;
  const auto f = compile([&](const Tensor& a) {
    ++traces;
    return a * 3;
  });
  const Tensor x = input({11});
  device_->on_compile = [] { sleep_ms(50); };
  on_threads(8, [&](int) { EXPECT_TRUE(matches(f(x), std::vector<Real>(11, 6))); });
  EXPECT_EQ(traces, 1);
  EXPECT_EQ(device_->compiled, 1);
}

TEST_F(BuildThreads, AnEagerOperationIsBuiltOnce) {
  static int number = 0;  // not used by an earlier run of this test
  const Tensor x = input({13});
  const int own = ++number;
  device_->on_compile = [] { sleep_ms(50); };
  on_threads(8, [&](int) { EXPECT_TRUE(matches(x + own, std::vector<Real>(13, 2 + own))); });
  EXPECT_EQ(device_->compiled, 1);
}

// Each compilation waits until all of them are running.
TEST_F(BuildThreads, DifferentSignaturesAreBuiltSideBySide) {
  const auto f = compile([](const Tensor& a) { return a * 3; });
  std::vector<Tensor> inputs;  // whose kernels differ
  for (DType dtype : {DType::f32, DType::f64, DType::i32, DType::i64})
    inputs.push_back(zeros({3}, dtype, "slow"));
  std::atomic<int> under_way = 0;
  std::atomic<int> met = 0;
  device_->on_compile = [&] {
    ++under_way;
    met += becomes_true([&] { return under_way == 4; });
  };
  on_threads(4, [&](int i) { f(inputs[static_cast<std::size_t>(i)]); });
  EXPECT_EQ(met, 4);
}

TEST_F(BuildThreads, AFailureIsTheErrorOfAllWhoWaitAndNotRemembered) {
  const auto f = compile([](const Tensor& a) { return a * 3; });
  const Tensor x = input({17});
  std::atomic<int> calls = 0;
  std::vector<std::exception_ptr> errors(4);  // destroyed by one thread, for ThreadSanitizer
  device_->on_compile = [&] {
    becomes_true([&] { return calls == 4; });
    sleep_ms(100);
    if (device_->compiled == 1) throw DeviceError("[slow] not now", "compile", 1);
  };
  on_threads(4, [&](int i) {
    ++calls;
    try {
      f(x);
    } catch (const DeviceError& error) {
      EXPECT_STREQ(error.what(), "[slow] not now");
      errors[static_cast<std::size_t>(i)] = std::current_exception();
    }
  });
  EXPECT_LT(std::count(errors.begin(), errors.end(), nullptr), 4);
  EXPECT_LE(device_->compiled, 2);  // calls after the failure built it again, once
  EXPECT_TRUE(matches(f(x), std::vector<Real>(17, 6)));
  EXPECT_EQ(device_->compiled, 2);
}

TEST_F(BuildThreads, AFunctionWithStateRunsOnOneThreadAtATime) {
  int state = 0;
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  const auto f = compile([&](const Tensor& a) {
    most = std::max(most.load(), ++inside);
    sleep_ms(20);
    ++state;
    --inside;
    return a * 3;
  });
  const auto outer = compile([&](const Tensor& a) { return f(a) + 1; });  // also runs f
  std::vector<Tensor> inputs;
  for (std::int64_t i = 1; i <= 6; ++i) inputs.push_back(input({i}));
  on_threads(6, [&](int i) {
    const Tensor& x = inputs[static_cast<std::size_t>(i)];
    i % 2 == 0 ? f(x) : outer(x);
  });
  EXPECT_EQ(most, 1);
  EXPECT_EQ(state, 6);
}

TEST_F(BuildThreads, ATracedFunctionMayAskForOtherPrograms) {
  const Tensor x = input({5, 2});
  const Tensor turned = transpose(input({3, 2}), 0, 1);
  const auto inner = compile([](const Tensor& a) { return a * 2; });
  std::atomic<int> depth = 0;
  std::function<int(const Tensor&)> kernels;
  const auto f = compile([&](const Tensor& a) {
    const float concrete = turned.to_vector<float>()[0];  // a copy, which runs eagerly
    const int count = inner.info(std::array{x}).kernels;
    const int own = depth++ == 0 ? kernels(x) : 1;  // the same signature again
    return inner(a) * concrete + count + own;
  });
  kernels = [&](const Tensor& a) { return f.info(std::array{a}).kernels; };
  EXPECT_TRUE(matches(f(x), std::vector<Real>(10, 2 * 2 * 2 + 1 + 1)));
}

// Each function's trace requests the other's program while that is being built.
TEST_F(BuildThreads, FunctionsThatAskForEachOtherDoNotWaitForever) {
  const Tensor x = input({7});
  std::atomic<int> tracing = 0;
  std::function<int()> of_f;
  std::function<int()> of_g;
  const auto f = compile([&](const Tensor& a) {
    if (++tracing <= 2 && becomes_true([&] { return tracing >= 2; })) of_g();
    return a + 1;
  });
  const auto g = compile([&](const Tensor& a) {
    if (++tracing <= 2 && becomes_true([&] { return tracing >= 2; })) of_f();
    return a + 2;
  });
  of_f = [&] { return f.info(std::array{x}).kernels; };
  of_g = [&] { return g.info(std::array{x}).kernels; };
  on_threads(2, [&](int i) {
    const Tensor y = i == 0 ? f(x) : g(x);
    EXPECT_TRUE(matches(y, std::vector<Real>(7, 3 + i)));
  });
}

TEST_F(BuildThreads, AForkedChildBuildsWhatItsParentWasBuilding) {
  const Tensor x = input({19});
  const auto f = compile([](const Tensor& a) { return a * 3; });
  const pid_t parent = getpid();
  std::atomic<bool> forked = false;
  device_->on_compile = [&] {
    if (getpid() == parent) becomes_true([&] { return forked.load(); });
  };
  std::thread slow([&] { f(x); });
  ASSERT_TRUE(becomes_true([&] { return device_->compiled == 1; }));
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(f(x).numel() == 19 && (x + 19.5).numel() == 19 ? 0 : 1);
  }
  forked = true;
  slow.join();
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(matches(f(x), std::vector<Real>(19, 6)));
}

}  // namespace
}  // namespace sinter::testing
