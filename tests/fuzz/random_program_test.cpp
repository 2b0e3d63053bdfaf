// Random programs, fused and operation by operation, compiled and interpreted, against an f64
// reference with error bounds. More of them, or one again (SINTER_FUZZ_INTERPRETED_ONLY=1: quick,
// SINTER_FUZZ_SIMT_ONLY=1: as a GPU would run them, SINTER_FUZZ_GPU_ONLY=1: on one):
//   SINTER_FUZZ_SEED=7 SINTER_FUZZ_COUNT=1000 test_fuzz --gtest_filter=RandomPrograms.FromSeed
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

#include "tests/fuzz/check.h"
#include "tests/support/gpu.h"

namespace sinter::fuzz {
namespace {

constexpr std::uint64_t kShards = 6;
constexpr std::uint64_t kProgramsPerShard = 50;
constexpr std::uint64_t kCompiledEagerEvery = 5;
constexpr int kMostFailuresShown = 3;

const std::vector<Executor> kAllExecutors{Executor::interpreted_fused, Executor::interpreted_eager,
                                          Executor::compiled_fused, Executor::compiled_eager};
const std::vector<Executor> kQuickExecutors{Executor::interpreted_fused,
                                            Executor::interpreted_eager, Executor::compiled_fused};

const std::vector<Executor> kInterpreters{Executor::interpreted_fused, Executor::interpreted_eager};
const std::vector<Executor> kSimtExecutors{Executor::simt_fused, Executor::simt_eager};
const std::vector<Executor> kGpuExecutors{Executor::cuda_fused, Executor::cuda_eager};

// What FromSeed needs to run the executor again.
std::string setting_for(Executor executor) {
  if (executor < Executor::simt_fused) return "";
  return executor < Executor::cuda_fused ? "SINTER_FUZZ_SIMT_ONLY=1 " : "SINTER_FUZZ_GPU_ONLY=1 ";
}

std::string failure_text(const RandomProgram& program, const Failure& failure) {
  const RandomProgram small = shrunk(program, failure.executor);
  Coverage ignored;
  const auto again = check(small, {failure.executor}, ignored);
  return fmt::format(
      "seed {} ({}): {}\n{}\nsmallest program that fails: {}\n{}\nagain: {}SINTER_FUZZ_SEED={} "
      "SINTER_FUZZ_COUNT=1 test_fuzz --gtest_filter=RandomPrograms.FromSeed\n",
      program.seed, name_of(failure.executor), failure.what, to_string(program),
      again ? again->what : failure.what, to_string(small), setting_for(failure.executor),
      program.seed);
}

// The compiled ones too, operation by operation for every so many seeds.
auto compiled_too(std::uint64_t eager_every) {
  return
      [=](std::uint64_t seed) { return seed % eager_every == 0 ? kAllExecutors : kQuickExecutors; };
}
std::vector<Executor> only_interpreters(std::uint64_t) { return kInterpreters; }
std::vector<Executor> only_simt(std::uint64_t) { return kSimtExecutors; }
std::vector<Executor> only_gpu(std::uint64_t) { return kGpuExecutors; }

// What to print if the process dies on a program: made beforehand, written by the signal's handler.
char running[256];

void name_and_die(int signal) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, running, std::strlen(running));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void note_running(std::uint64_t seed) {
  for (int signal : {SIGSEGV, SIGFPE, SIGABRT, SIGILL, SIGBUS}) std::signal(signal, name_and_die);
  const std::string text = fmt::format(
      "died on seed {}; again: SINTER_FUZZ_SEED={} SINTER_FUZZ_COUNT=1 test_fuzz "
      "--gtest_filter=RandomPrograms.FromSeed\n",
      seed, seed);
  std::strncpy(running, text.c_str(), sizeof running - 1);
}

// Checks the programs of seeds first, first + 1, ...
using ChooseExecutors = std::function<std::vector<Executor>(std::uint64_t seed)>;

Coverage check_seeds(std::uint64_t first, std::uint64_t count, const ChooseExecutors& executors) {
  Coverage coverage;
  int shown = 0;
  for (std::uint64_t seed = first; seed < first + count && shown < kMostFailuresShown; ++seed) {
    note_running(seed);
    const RandomProgram program = generate(seed);
    if (const auto failure = check(program, executors(seed), coverage)) {
      ADD_FAILURE() << failure_text(program, *failure);
      ++shown;
    }
  }
  return coverage;
}

std::string coverage_text(const Coverage& coverage) {
  int ops = 0;
  int table = 0;
  std::string missing;
#define SINTER_POINTWISE(name, arity, rule, cost, ...)      \
  ++table;                                                  \
  if (coverage.ops[static_cast<std::size_t>(Op::name)] > 0) \
    ++ops;                                                  \
  else                                                      \
    missing += " " #name;
#include <sinter/ops.def>
#undef SINTER_POINTWISE
  for (int kind = 0; kind < kStepKinds; ++kind)
    if (coverage.kinds[static_cast<std::size_t>(kind)] == 0)
      missing += fmt::format(" {}", name_of(static_cast<StepKind>(kind)));
  return fmt::format(
      "{} programs, {} steps, {} kernels fused, {} eager; {} of {} table ops; not drawn:{}; {} "
      "elements, {:.2f} % of them not compared",
      coverage.programs, coverage.steps, coverage.fused_kernels, coverage.eager_kernels, ops, table,
      missing.empty() ? " none" : missing, coverage.elements,
      100.0 * static_cast<double>(coverage.unknown) /
          static_cast<double>(std::max<std::int64_t>(1, coverage.elements)));
}

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// Shards are separate tests so that ctest -j spreads them over cores.
class RandomProgramShard : public testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomProgramShard, EveryExecutorAgreesWithTheReference) {
  const Coverage coverage = check_seeds(GetParam() * kProgramsPerShard, kProgramsPerShard,
                                        compiled_too(kCompiledEagerEvery));
  RecordProperty("coverage", coverage_text(coverage));
  // The bounds must not grow until they check nothing.
  EXPECT_LT(coverage.unknown * 20, coverage.elements) << coverage_text(coverage);
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomProgramShard, testing::Range<std::uint64_t>(0, kShards));

// Interpreting takes a millisecond a program, so these are many, and cover the whole op table.
TEST(RandomPrograms, InterpretedOnesAgreeWithTheReference) {
  const Coverage coverage = check_seeds(10000, 1500, only_interpreters);
  if (HasFailure()) return;  // it stopped early
#define SINTER_POINTWISE(name, arity, rule, cost, ...) \
  EXPECT_GT(coverage.ops[static_cast<std::size_t>(Op::name)], 0) << #name " was never drawn";
#include <sinter/ops.def>
#undef SINTER_POINTWISE
  for (int kind = 0; kind < kStepKinds; ++kind)
    EXPECT_GT(coverage.kinds[static_cast<std::size_t>(kind)], 0)
        << name_of(static_cast<StepKind>(kind)) << " was never drawn";
}

TEST(RandomPrograms, FromSeed) {
  if (!std::getenv("SINTER_FUZZ_SEED")) GTEST_SKIP() << "set SINTER_FUZZ_SEED (and _COUNT)";
  ChooseExecutors executors = compiled_too(number_from_environment("SINTER_FUZZ_EAGER_EVERY", 1));
  if (std::getenv("SINTER_FUZZ_INTERPRETED_ONLY")) executors = only_interpreters;
  if (std::getenv("SINTER_FUZZ_SIMT_ONLY")) executors = only_simt;
  if (std::getenv("SINTER_FUZZ_GPU_ONLY")) {
    SINTER_NEEDS_GPU();
    executors = only_gpu;
  }
  const Coverage coverage = check_seeds(number_from_environment("SINTER_FUZZ_SEED", 0),
                                        number_from_environment("SINTER_FUZZ_COUNT", 1), executors);
  fmt::print("{}\n", coverage_text(coverage));
}

// As a GPU would run them. Their kernels take longer to compile, so these are few.
class SimtProgramShard : public testing::TestWithParam<std::uint64_t> {};

TEST_P(SimtProgramShard, AgreesWithTheReference) {
  constexpr std::uint64_t kFirst = 20000;
  constexpr std::uint64_t kPrograms = 30;
  constexpr std::uint64_t kEagerEvery = 5;
  check_seeds(kFirst + GetParam() * kPrograms, kPrograms, [](std::uint64_t seed) {
    return seed % kEagerEvery == 0 ? kSimtExecutors : std::vector{Executor::simt_fused};
  });
}
INSTANTIATE_TEST_SUITE_P(Seeds, SimtProgramShard, testing::Range<std::uint64_t>(0, 2));

// On a GPU; shards so that a failure names few programs.
class RandomProgramsGpu : public testing::TestWithParam<std::uint64_t> {
 protected:
  void SetUp() override { SINTER_NEEDS_GPU(); }
};

TEST_P(RandomProgramsGpu, AgreeWithTheReference) {
  constexpr std::uint64_t kFirst = 30000;
  constexpr std::uint64_t kPrograms = 50;
  constexpr std::uint64_t kEagerEvery = 5;
  const Coverage coverage =
      check_seeds(kFirst + GetParam() * kPrograms, kPrograms, [](std::uint64_t seed) {
        return seed % kEagerEvery == 0 ? kGpuExecutors : std::vector{Executor::cuda_fused};
      });
  EXPECT_LT(coverage.unknown * 20, coverage.elements) << coverage_text(coverage);
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomProgramsGpu, testing::Range<std::uint64_t>(0, 4));

TEST(RandomPrograms, AreTheSameFromTheSameSeed) {
  for (std::uint64_t seed : {1u, 42u, 977u})
    EXPECT_EQ(to_string(generate(seed)), to_string(generate(seed)));
}

}  // namespace
}  // namespace sinter::fuzz
