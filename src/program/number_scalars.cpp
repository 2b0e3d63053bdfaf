// Evaluates a call's numbers for the kernels that take them.
#include <bit>

#include "src/program/build.h"

namespace sinter {
namespace {

// Kept between calls so that a warm call does not allocate.
ById<NumberId, Scalar>& values_of_call() {
  thread_local ById<NumberId, Scalar> values;
  return values;
}

}  // namespace

void number_scalars(const Program& program, std::span<const Scalar> arguments,
                    std::vector<std::int64_t>& scalars) {
  ById<NumberId, Scalar>& values = values_of_call();
  program.plan.graph.numbers.evaluate(arguments, values);
  scalars.clear();
  for (const ProgramNumber& number : program.numbers) {
    const Scalar value = values[number.number].as(number.dtype);
    scalars.push_back(is_floating(number.dtype) ? std::bit_cast<std::int64_t>(value.real)
                                                : value.integer);
  }
}

bool is_for(const Program& program, std::span<const Scalar> arguments) {
  const NumberTable& numbers = program.plan.graph.numbers;
  if (numbers.guards().empty()) return true;
  return numbers.guards_hold(arguments, values_of_call());
}

}  // namespace sinter
