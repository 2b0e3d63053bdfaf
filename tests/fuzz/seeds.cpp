// Failures are shrunk and reported with the command that reproduces them.
#include "tests/fuzz/seeds.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>

namespace sinter::fuzz {
namespace {

constexpr std::uint64_t kBatch = 50;
constexpr int kMostFailuresShown = 3;

std::string command_for(std::uint64_t seed, std::string_view places) {
  return fmt::format(
      "SINTER_FUZZ_EXECUTORS={} SINTER_FUZZ_SEED={} SINTER_FUZZ_COUNT=1 test_fuzz "
      "--gtest_filter=RandomPrograms.FromSeed\n",
      places, seed);
}

std::string failure_text(const RandomProgram& program, const Failure& failure) {
  const RandomProgram small = shrunk(program, failure.executor);
  Coverage ignored;
  const auto again = check(small, {failure.executor}, ignored);
  return fmt::format("seed {} ({}): {}\n{}\nsmallest program that fails: {}\n{}\nagain: {}",
                     program.seed, name_of(failure.executor), failure.what, to_string(program),
                     again ? again->what : failure.what, to_string(small),
                     command_for(program.seed, name_of(failure.executor.place)));
}

// The message if the process dies on a program: prepared in advance, written by the signal handler.
char running[256];

void name_and_die(int signal) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, running, std::strlen(running));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void note_running(std::uint64_t seed) {
  for (int signal : {SIGSEGV, SIGFPE, SIGABRT, SIGILL, SIGBUS}) std::signal(signal, name_and_die);
  const std::string text = "died on: " + command_for(seed, "interpreted,compiled,simt");
  std::strncpy(running, text.c_str(), sizeof running - 1);
}

// Adds to `coverage`; returns the number of failures.
int check_batch(std::uint64_t first, std::uint64_t count, const ChooseExecutors& executors,
                Coverage& coverage) {
  std::vector<RandomProgram> programs;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    note_running(seed);
    programs.push_back(generate(seed));
  }
  compile_ahead(programs, executors);
  int failures = 0;
  for (const RandomProgram& program : programs) {
    note_running(program.seed);
    if (const auto failure = check(program, executors(program.seed), coverage)) {
      ADD_FAILURE() << failure_text(program, *failure);
      if (++failures == kMostFailuresShown) break;
    }
  }
  return failures;
}

}  // namespace

Coverage check_seeds(std::uint64_t first, std::uint64_t count, const ChooseExecutors& executors) {
  Coverage coverage;
  int failures = 0;
  for (std::uint64_t done = 0; done < count && failures < kMostFailuresShown; done += kBatch)
    failures += check_batch(first + done, std::min(kBatch, count - done), executors, coverage);
  return coverage;
}

Coverage check_for(double seconds, std::uint64_t first, const ChooseExecutors& executors) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  Coverage coverage;
  int failures = 0;
  while (Clock::now() < end && failures < kMostFailuresShown) {
    failures += check_batch(first, kBatch, executors, coverage);
    first += kBatch;
  }
  return coverage;
}

std::string to_string(const Coverage& coverage) {
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
      "numbers of calls, {} of them equal to others; {} operands of products computed, {} padded; "
      "{} elements, {:.2f} % of them not compared",
      coverage.programs, coverage.steps, coverage.fused_kernels, coverage.eager_kernels, ops, table,
      missing.empty() ? " none" : missing, coverage.numbers, coverage.equal_numbers,
      coverage.computed_products, coverage.padded_products, coverage.elements,
      100.0 * static_cast<double>(coverage.unknown) /
          static_cast<double>(std::max<std::int64_t>(1, coverage.elements)));
}

ChooseExecutors executors_at(Place place, std::uint64_t others_every) {
  return [=](std::uint64_t seed) {
    std::vector<Executor> executors{{place, Form::fused}};
    if (seed % others_every == 0) {
      executors.push_back({place, Form::eager});
      executors.push_back({place, Form::rounded});
      executors.push_back({place, Form::placed});
    }
    return executors;
  };
}

}  // namespace sinter::fuzz
