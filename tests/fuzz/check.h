// Checking a program: every executor's results against the reference, and shrinking what fails.
// In: a program and the executors to run. Out: what was wrong, if anything, and what was seen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/fuzz/program.h"

namespace sinter::fuzz {

enum class Executor : std::uint8_t {
  interpreted_fused,  // the plan compile() would run, every access checked against its buffer
  interpreted_eager,
  compiled_fused,
  compiled_eager,
  simt_fused,  // the GPU's plan and kernels, on the CPU
  simt_eager,
  cuda_fused,  // on a GPU
  cuda_eager,
};
std::string_view name_of(Executor executor);

struct Coverage {
  std::int64_t programs = 0;
  std::int64_t steps = 0;
  std::int64_t fused_kernels = 0;
  std::int64_t eager_kernels = 0;
  std::int64_t elements = 0;                                 // of outputs, by executor
  std::int64_t unknown = 0;                                  // of those, not compared
  std::vector<int> ops = std::vector<int>(256, 0);           // programs' steps by Op
  std::vector<int> kinds = std::vector<int>(kStepKinds, 0);  // and by StepKind
};

struct Failure {
  Executor executor = Executor::interpreted_fused;
  std::string what;
};

std::optional<Failure> check(const RandomProgram& program, const std::vector<Executor>& executors,
                             Coverage& coverage);

// The smallest program found that still fails in that executor.
RandomProgram shrunk(const RandomProgram& program, Executor executor);

}  // namespace sinter::fuzz
