// The CPU device: compiled kernels agree with the interpreter and come from disk the second time;
// the device works without a compiler and without a usable cache.
#include "src/cpu/cpu_device.h"

#include <gtest/gtest.h>
#include <sinter/error.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

#include "src/cpu/compiler_record.h"
#include "src/cpu/cpu_info.h"
#include "src/runtime/compile_kernel.h"
#include "src/runtime/registry.h"
#include "src/tile/builder.h"

namespace sinter {
namespace {

constexpr std::int64_t kBlock = 64;

struct Blocks {
  tile::ValueId offsets;
  tile::ValueId mask;
};

// The elements of this program: kBlock of them, those below n.
Blocks own_block(tile::Builder& builder, tile::ValueId n) {
  const auto offsets = builder.add(builder.mul(builder.program_id(), builder.integer(kBlock)),
                                   builder.arange(tile::Axis::cols, kBlock));
  return {offsets, builder.pointwise(Op::lt, {offsets, n})};
}

// y = tanh(x) * factor + x
tile::TileProgram pointwise_program(double factor = 3) {
  tile::Builder builder("pointwise");
  const int x = builder.add_buffer("x", DType::f32, false);
  const int y = builder.add_buffer("y", DType::f32, true);
  const Blocks block = own_block(builder, builder.add_scalar("n", DType::i64));
  const auto value = builder.load(x, block.offsets, block.mask, builder.real(0, DType::f32));
  const auto scaled = builder.pointwise(
      Op::mul, {builder.pointwise(Op::tanh, {value}), builder.real(factor, DType::f32)});
  builder.store(y, block.offsets, builder.pointwise(Op::add, {scaled, value}), block.mask);
  return builder.finish();
}

// y[p] = the sum of program p's block
tile::TileProgram sum_program() {
  tile::Builder builder("block_sum");
  const int x = builder.add_buffer("x", DType::f32, false);
  const int y = builder.add_buffer("y", DType::f32, true);
  const Blocks block = own_block(builder, builder.add_scalar("n", DType::i64));
  const auto value = builder.load(x, block.offsets, block.mask, builder.real(0, DType::f32));
  const auto sum = builder.reduce(ReduceKind::sum, std::span(&value, 1));
  builder.store(y, builder.program_id(), sum[0], tile::kNoValue);
  return builder.finish();
}

struct Run {
  std::vector<float> x;
  std::vector<float> y;
  std::vector<tile::BufferBinding> buffers;
  std::vector<std::int64_t> scalars;
  std::int64_t grid;

  explicit Run(std::int64_t n)
      : x(static_cast<std::size_t>(n)),
        y(x.size(), -1),
        scalars{n},
        grid((n + kBlock - 1) / kBlock) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
    buffers = {{x.data(), n}, {y.data(), n}};
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
};

void expect_agrees(const CompiledKernel& kernel, const tile::TileProgram& program, std::int64_t n,
                   double nanoseconds) {
  Run compiled(n);
  Run oracle(n);
  kernel.launch(compiled.buffers, compiled.scalars, compiled.grid, nanoseconds);
  tile::interpret(program, oracle.buffers, oracle.scalars, 0, oracle.grid);
  for (std::size_t i = 0; i < oracle.y.size(); ++i)
    ASSERT_NEAR(compiled.y[i], oracle.y[i], 1e-5 * (1 + std::abs(oracle.y[i]))) << i << " of " << n;
}

std::atomic<int> g_warnings{0};
std::string g_last_warning;

class CpuDeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    g_warnings = 0;
    before_ = set_warning_handler([](const std::string& message) {
      ++g_warnings;
      g_last_warning = message;
    });
    if (!HostCompiler::find({})) GTEST_SKIP() << "no compiler on this machine";
  }
  void TearDown() override { set_warning_handler(before_); }

  std::shared_ptr<CpuDevice> device(int vector_bytes = 0) {
    return make_cpu_device({2, directory_.path() + "/cache", "", vector_bytes});
  }

  TemporaryDirectory directory_;
  WarningHandler before_ = nullptr;
};

TEST_F(CpuDeviceTest, CompiledKernelsAgreeWithTheInterpreter) {
  for (const int vector_bytes : {0, 16, 32, 64}) {
    if (vector_bytes > native_vector_bytes()) continue;
    const auto cpu = device(vector_bytes);
    for (const tile::TileProgram& program : {pointwise_program(), sum_program()}) {
      const KernelPtr kernel = compile_kernel(*cpu, program);
      EXPECT_FALSE(kernel->stats().interpreted);
      for (const std::int64_t n : {0, 1, 63, 64, 65, 1000, 10'007})
        for (const double nanoseconds : {0.0, 1e9}) expect_agrees(*kernel, program, n, nanoseconds);
    }
  }
  EXPECT_EQ(g_warnings, 0) << g_last_warning;
}

#if defined(__x86_64__)
TEST_F(CpuDeviceTest, NarrowVectorsUseNoWiderInstructions) {
  KernelSource source;
  source.name = source.entry = "width";
  auto compiles_where = [&](int vector_bytes, const std::string& condition) {
    source.body =
        "#if " + condition + "\n#error unexpected\n#endif\nextern \"C\" void width() {}\n";
    try {
      return device(vector_bytes)->compile(source) != nullptr;
    } catch (const CompileError&) {
      return false;
    }
  };
  EXPECT_TRUE(compiles_where(16, "defined(__AVX__)"));
  EXPECT_TRUE(compiles_where(32, "defined(__AVX512F__)"));
  const bool has_avx512 = native_vector_bytes() == 64;
  EXPECT_EQ(compiles_where(0, "defined(__AVX512F__)"), !has_avx512);
}

TEST(CpuDeviceOptions, VectorsWiderThanTheProcessorsAreRefused) {
  Options options;
  options.vector_bytes = 64;
  if (native_vector_bytes() == 64) {
    EXPECT_EQ(cpu_device_options(options).vector_bytes, 64);
    return;
  }
  EXPECT_THROW(cpu_device_options(options), UserError);
}
#endif

TEST_F(CpuDeviceTest, SecondCompilationComesFromMemory) {
  const auto cpu = device();
  EXPECT_EQ(compile_kernel(*cpu, pointwise_program()), compile_kernel(*cpu, pointwise_program()));
  EXPECT_NE(compile_kernel(*cpu, pointwise_program()), compile_kernel(*cpu, pointwise_program(4)));
}

TEST_F(CpuDeviceTest, SecondDeviceReadsFromDisk) {
  const KernelPtr first = compile_kernel(*device(), pointwise_program());
  EXPECT_FALSE(first->stats().from_disk);
  const auto cpu = device();
  const KernelPtr second = compile_kernel(*cpu, pointwise_program());
  EXPECT_TRUE(second->stats().from_disk);
  EXPECT_GT(first->stats().milliseconds, second->stats().milliseconds);
  RecordProperty("compile_ms", std::to_string(first->stats().milliseconds));
  RecordProperty("disk_ms", std::to_string(second->stats().milliseconds));
  EXPECT_EQ(cpu->disk_cache().stats().entries, 1u);
  expect_agrees(*second, pointwise_program(), 1000, 0);
}

TEST_F(CpuDeviceTest, KernelOutlivesItsDevice) {
  const KernelPtr kernel = compile_kernel(*device(), pointwise_program());
  expect_agrees(*kernel, pointwise_program(), 10'000, 1e9);
}

TEST_F(CpuDeviceTest, DamagedEntryIsRebuilt) {
  compile_kernel(*device(), pointwise_program());
  const std::string path = device()->disk_cache().list().at(0).path;
  ASSERT_EQ(truncate(path.c_str(), 1000), 0);
  const KernelPtr kernel = compile_kernel(*device(), pointwise_program());
  EXPECT_FALSE(kernel->stats().from_disk);
  expect_agrees(*kernel, pointwise_program(), 1000, 0);
  EXPECT_TRUE(compile_kernel(*device(), pointwise_program())->stats().from_disk);
}

// Intact by its checksum but not a library: rebuilt.
TEST_F(CpuDeviceTest, EntryThatCannotBeLoadedIsRebuilt) {
  compile_kernel(*device(),
                 pointwise_program());  // not held: a loaded library would be found by name
  const auto cpu = device();
  const std::string path = cpu->disk_cache().list().at(0).path;
  const std::string hex = std::filesystem::path(path).stem();
  const Hash128 key{std::stoull(hex.substr(0, 16), nullptr, 16),
                    std::stoull(hex.substr(16), nullptr, 16)};
  ASSERT_TRUE(cpu->disk_cache().put(key, "not a library"));
  const KernelPtr kernel = compile_kernel(*device(), pointwise_program());
  EXPECT_FALSE(kernel->stats().from_disk);
  expect_agrees(*kernel, pointwise_program(), 1000, 0);
}

TEST_F(CpuDeviceTest, CacheThatVanishedIsAWarning) {
  const auto cpu = device();
  std::filesystem::remove_all(directory_.path() + "/cache");
  expect_agrees(*compile_kernel(*cpu, pointwise_program()), pointwise_program(), 1000, 0);
  expect_agrees(*compile_kernel(*cpu, sum_program()), sum_program(), 1000, 0);
  EXPECT_EQ(g_warnings, 1);
  EXPECT_NE(g_last_warning.find("not kept"), std::string::npos) << g_last_warning;
}

TEST_F(CpuDeviceTest, WithoutACompilerKernelsAreInterpretedAndItWarnsOnce) {
  for (int i = 0; i < 2; ++i) {
    const auto cpu = make_cpu_device({2, "", kNoCompiler, 0});
    const KernelPtr kernel = compile_kernel(*cpu, pointwise_program());
    EXPECT_TRUE(kernel->stats().interpreted);
    expect_agrees(*kernel, pointwise_program(), 1000, 0);
  }
  EXPECT_EQ(g_warnings, 1);
  EXPECT_NE(g_last_warning.find("interpreter"), std::string::npos) << g_last_warning;
}

TEST_F(CpuDeviceTest, WithoutACompilerKernelsOfTheCacheRun) {
  compile_kernel(*device(), pointwise_program(0.125));
  const auto cpu = make_cpu_device({2, directory_.path() + "/cache", kNoCompiler, 0});
  EXPECT_NE(cpu->description().find("kernels of the cache, others interpreted"), std::string::npos);
  const KernelPtr kept = compile_kernel(*cpu, pointwise_program(0.125));
  EXPECT_FALSE(kept->stats().interpreted);
  EXPECT_TRUE(kept->stats().from_disk);
  expect_agrees(*kept, pointwise_program(0.125), 1000, 0);
  EXPECT_EQ(g_warnings, 0) << g_last_warning;
  const KernelPtr other = compile_kernel(*cpu, pointwise_program(0.25));
  EXPECT_TRUE(other->stats().interpreted);
  expect_agrees(*other, pointwise_program(0.25), 1000, 0);
}

// However the entry became unusable, the kernel is interpreted.
TEST_F(CpuDeviceTest, WithoutACompilerADamagedOrUntrustedEntryIsNotRun) {
  const std::function<void(const std::string&)> damages[] = {
      [](const std::string& path) { ASSERT_EQ(truncate(path.c_str(), 1000), 0); },
      [](const std::string& path) { ASSERT_EQ(chmod(path.c_str(), 0606), 0); },
      [](const std::string& path) {
        if (chown(path.c_str(), 12345, 12345) != 0) std::filesystem::remove(path);
      }};
  for (const auto& damage : damages) {
    compile_kernel(*device(), pointwise_program());
    damage(device()->disk_cache().list().at(0).path);
    const auto cpu = make_cpu_device({2, directory_.path() + "/cache", kNoCompiler, 0});
    EXPECT_TRUE(compile_kernel(*cpu, pointwise_program())->stats().interpreted);
  }
}

TEST_F(CpuDeviceTest, TheCompilersUsedLastAreRemembered) {
  const auto cache = DiskCache::open(directory_.path() + "/cache");
  EXPECT_TRUE(remembered_compilers(*cache, "cpu").empty());
  for (const char* compiler : {"a", "b", "c", "a", "d", "e"})
    remember_compiler(*cache, "cpu", compiler);
  EXPECT_EQ(remembered_compilers(*cache, "cpu"), (std::vector<std::string>{"e", "d", "a", "c"}));
  EXPECT_TRUE(remembered_compilers(*cache, "another cpu").empty());
}

TEST_F(CpuDeviceTest, SaysWhatItDoesWithout) {
  EXPECT_EQ(device()->limitation(), "");
  EXPECT_NE(make_cpu_device({2, "", kNoCompiler, 0})->limitation().find("interpreter"),
            std::string::npos);
  const std::string script = directory_.path() + "/cxx";
  std::ofstream(script) << "#!/bin/sh\necho broken compiler >&2; exit 7\n";
  chmod(script.c_str(), 0700);
  const std::string limitation =
      make_cpu_device({2, directory_.path() + "/cache", script, 0})->limitation();
  EXPECT_NE(limitation.find(script + " compiles nothing (exit status 7: broken compiler)"),
            std::string::npos)
      << limitation;
}

// The script counts its runs; a failure is retried, because it may be temporary.
TEST_F(CpuDeviceTest, ACompilerThatWorksIsTriedOutOnce) {
  const std::string script = directory_.path() + "/cxx";
  const std::string runs = directory_.path() + "/runs";
  std::ofstream(script) << "#!/bin/sh\necho >> " << runs << "\n[ -e " << directory_.path()
                        << "/works ] && exec c++ \"$@\"\nexit 1\n";
  chmod(script.c_str(), 0700);
  const auto tried = [&] {
    make_cpu_device({2, directory_.path() + "/cache", script, 0})->limitation();
    std::ifstream lines(runs);
    return std::count(std::istreambuf_iterator<char>(lines), {}, '\n');
  };
  EXPECT_EQ(tried(), 1);
  EXPECT_EQ(tried(), 2);
  std::ofstream(directory_.path() + "/works") << "now";
  EXPECT_EQ(tried(), 3);
  EXPECT_EQ(tried(), 3);
}

TEST_F(CpuDeviceTest, CompilerThatFailsIsAnErrorEachTime) {
  const std::string script = directory_.path() + "/cxx";
  std::ofstream(script) << "#!/bin/sh\necho broken compiler; exit 1\n";
  chmod(script.c_str(), 0700);
  const auto cpu = make_cpu_device({2, directory_.path() + "/cache", script, 0});
  for (int i = 0; i < 2; ++i) {
    try {
      compile_kernel(*cpu, pointwise_program());
      FAIL() << "it compiled";
    } catch (const CompileError& error) {
      EXPECT_EQ(error.log(), "broken compiler\n");
      EXPECT_TRUE(std::filesystem::exists(error.source_path()));
    }
  }
}

TEST_F(CpuDeviceTest, ManyThreadsCompileAndRun) {
  const auto cpu = device();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (const tile::TileProgram& program : {pointwise_program(), sum_program()})
        expect_agrees(*compile_kernel(*cpu, program), program, 5000, 1e9);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cpu->kernels().size(), 2u);
}

// Two keys of one text: the same library.
TEST_F(CpuDeviceTest, OneTextIsCompiledOnceHoweverManyAskAtOnce) {
  const std::string bytes = HostCompiler::find({})->compile("extern \"C\" void f() {}", "f");
  KernelLibraries libraries(directory_.path() + "/cache");
  std::atomic<int> made{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      const auto found = libraries.get({1, 2}, "f", [&] {
        ++made;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        return bytes;
      });
      EXPECT_TRUE(found.library->symbol("f"));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
}

TEST_F(CpuDeviceTest, ForkedChildCompilesAndRuns) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer allows no threads in a forked child";
#endif
  const auto cpu = device();
  expect_agrees(*compile_kernel(*cpu, pointwise_program()), pointwise_program(), 10'000, 1e9);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    expect_agrees(*compile_kernel(*cpu, pointwise_program()), pointwise_program(), 10'000, 1e9);
    expect_agrees(*compile_kernel(*cpu, sum_program()), sum_program(), 10'000, 1e9);
    _exit(HasFailure() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(CpuDeviceTest, DescribesItself) {
  const auto cpu = device();
  EXPECT_EQ(cpu->name(), "cpu");
  EXPECT_EQ(cpu->parallelism(), 2);
  EXPECT_GT(cpu->machine().cache_bytes, 100'000);
  EXPECT_NE(cpu->description().find("2 threads"), std::string::npos) << cpu->description();
  EXPECT_NE(cpu->render(pointwise_program()).text().find("tanh"), std::string::npos);
  const double bandwidth = cpu->copy_bandwidth();
  EXPECT_GT(bandwidth, 1e8);
  EXPECT_LT(bandwidth, 1e13);
  EXPECT_EQ(cpu->copy_bandwidth(), bandwidth);
  EXPECT_EQ(cpu->memory().peak, 0u);
}

TEST(Registry, KnowsTheCpu) {
  register_cpu_device();
  register_cpu_device();
  EXPECT_EQ(device_names(), std::vector<std::string>{"cpu"});
  try {
    find_device("gpu9");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "[device] there is no device 'gpu9', known ones are: cpu");
  }
}

}  // namespace
}  // namespace sinter
