// The kernel cache: one compilation per key for any number of threads; failures are not remembered.
#include "src/runtime/kernel_cache.h"

#include <gtest/gtest.h>
#include <sinter/error.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <set>
#include <thread>

#include "src/tile/builder.h"

namespace sinter {
namespace {

class NoKernel : public CompiledKernel {
 public:
  void launch(std::span<const tile::BufferBinding>, std::span<const std::int64_t>, std::int64_t,
              double) const override {}
};

tile::TileProgram scale_program(double factor, std::int64_t block = 16,
                                tile::Caching caching = tile::Caching::any) {
  tile::Builder builder("scale");
  const int x = builder.add_buffer("x", DType::f32, false);
  const int y = builder.add_buffer("y", DType::f32, true);
  const auto n = builder.add_scalar("n", DType::i64);
  const auto i = builder.add(builder.mul(builder.program_id(), builder.integer(block)),
                             builder.arange(tile::Axis::cols, block));
  const auto mask = builder.pointwise(Op::lt, {i, n});
  const auto value = builder.load(x, i, mask, builder.real(0, DType::f32));
  builder.store(y, i, builder.pointwise(Op::mul, {value, builder.real(factor, DType::f32)}), mask);
  builder.set_caching(caching);
  return builder.finish();
}

TEST(ProgramKey, SameProgramSameKey) {
  EXPECT_EQ(key_of(scale_program(2)), key_of(scale_program(2)));
}

TEST(ProgramKey, EveryDifferenceButNamesCounts) {
  std::set<Hash128> keys;
  keys.insert(key_of(scale_program(2)));
  keys.insert(key_of(scale_program(2.0000001)));
  keys.insert(key_of(scale_program(0.0)));
  keys.insert(key_of(scale_program(-0.0)));
  keys.insert(key_of(scale_program(2, 32)));
  keys.insert(key_of(scale_program(2, 16, tile::Caching::results)));
  keys.insert(key_of(scale_program(2, 16, tile::Caching::operands)));
  keys.insert(key_of(scale_program(2, 16, tile::Caching::nothing)));
  tile::TileProgram renamed = scale_program(2);
  renamed.name = "other";
  keys.insert(key_of(renamed));
  EXPECT_EQ(keys.size(), 8u);
}

TEST(KernelCache, ManyThreadsCompileOnce) {
  KernelCache cache;
  std::atomic<int> compilations{0};
  std::vector<KernelPtr> kernels(8);
  std::vector<std::thread> threads;
  for (KernelPtr& kernel : kernels)
    threads.emplace_back([&] {
      kernel = cache.get({1, 2}, [&] {
        ++compilations;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return std::make_shared<NoKernel>();
      });
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(compilations, 1);
  EXPECT_EQ(cache.size(), 1u);
  for (const KernelPtr& kernel : kernels) EXPECT_EQ(kernel, kernels[0]);
}

TEST(KernelCache, FailureIsNotRemembered) {
  KernelCache cache;
  EXPECT_THROW(cache.get({1, 2}, []() -> KernelPtr { throw CompileError("no", "", ""); }),
               CompileError);
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_TRUE(cache.get({1, 2}, [] { return std::make_shared<NoKernel>(); }));
}

// Waiters get the error; later calls retry, all of them once.
TEST(KernelCache, AFailureIsTheErrorOfAllWhoWait) {
  KernelCache cache;
  std::atomic<int> tries{0};
  std::vector<std::exception_ptr> errors(4);  // destroyed by one thread, for ThreadSanitizer
  std::vector<std::thread> threads;
  for (std::exception_ptr& error : errors)
    threads.emplace_back([&] {
      try {
        cache.get({1, 2}, [&]() -> KernelPtr {
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
          if (tries++ == 0) throw CompileError("no", "", "");
          return std::make_shared<NoKernel>();
        });
      } catch (const CompileError&) {
        error = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_LT(std::count(errors.begin(), errors.end(), nullptr), 4);
  EXPECT_LE(tries, 2);
  EXPECT_TRUE(cache.get({1, 2}, [] { return std::make_shared<NoKernel>(); }));
}

TEST(KernelCache, ClearKeepsReferencedKernels) {
  KernelCache cache;
  const KernelPtr kernel = cache.get({1, 2}, [] { return std::make_shared<NoKernel>(); });
  cache.clear();
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_EQ(kernel.use_count(), 1);
}

TEST(KernelCache, OnlyUnreferencedKernelsAreDropped) {
  KernelCache cache;
  KernelPtr kernel = cache.get({1, 2}, [] { return std::make_shared<NoKernel>(); });
  cache.get({3, 4}, [] { return std::make_shared<NoKernel>(); });
  const std::weak_ptr<const CompiledKernel> watched = kernel;
  cache.drop_if_unused({1, 2});
  cache.drop_if_unused({5, 6});
  EXPECT_EQ(cache.size(), 2u);
  kernel.reset();
  cache.drop_if_unused({1, 2});
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_TRUE(watched.expired());
}

TEST(KernelCache, ChildForkedDuringACompilationCompilesItself) {
  KernelCache cache;
  std::atomic<bool> compiling{false};
  std::atomic<bool> forked{false};
  std::thread slow([&] {
    cache.get({1, 2}, [&]() -> KernelPtr {
      compiling = true;
      while (!forked) std::this_thread::yield();
      return std::make_shared<NoKernel>();
    });
  });
  while (!compiling) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(cache.get({1, 2}, [] { return std::make_shared<NoKernel>(); }) ? 0 : 1);
  }
  forked = true;
  slow.join();
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace sinter
