// Checking a program: every executor's results against the reference, and shrinking failures.
// In: a program and the executors to run. Out: the failure, if any, and the coverage.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/fuzz/executor.h"

namespace sinter::fuzz {

struct Coverage {
  std::int64_t programs = 0;
  std::int64_t steps = 0;
  std::int64_t fused_kernels = 0;
  std::int64_t eager_kernels = 0;
  std::int64_t elements = 0;                                 // of outputs, by executor
  std::int64_t unknown = 0;                                  // of those, not compared
  std::vector<int> ops = std::vector<int>(256, 0);           // programs' steps by Op
  std::vector<int> kinds = std::vector<int>(kStepKinds, 0);  // and by StepKind
  int numbers = 0;                                           // of calls, read by steps
  int equal_numbers = 0;      // and as large as another one, or as a constant
  int computed_products = 0;  // matrix products of what a step computed
  int padded_products = 0;    // and of what a step padded
};

struct Failure {
  Executor executor;
  std::string what;
};

std::optional<Failure> check(const RandomProgram& program, const std::vector<Executor>& executors,
                             Coverage& coverage);

// Where the two differ in more than the bits of NaN.
std::optional<std::string> compare_bits(const Tensor& got, const Tensor& want);

// The smallest program found that still fails in that executor.
RandomProgram shrunk(const RandomProgram& program, const Executor& executor);

}  // namespace sinter::fuzz
