// Proposing steps: a random operation on values that exist, valid by the API's rules.
// In: the values so far. Out: a Step, or nothing where the draw has no valid operands.
#pragma once

#include <initializer_list>
#include <optional>
#include <random>
#include <vector>

#include "tests/fuzz/program.h"
#include "tests/fuzz/reference.h"

namespace sinter::fuzz {

// The same numbers on every machine, which the standard's distributions do not guarantee.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed * 0x9e3779b97f4a7c15u + 1) {}

  std::uint64_t next() { return engine_(); }
  std::uint64_t below(std::uint64_t count) { return engine_() % count; }
  bool one_in(std::uint64_t count) { return below(count) == 0; }
  template <typename T>
  T pick(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }

 private:
  std::mt19937_64 engine_;
};

// A program as far as it has been drawn.
struct Drawn {
  RandomProgram program;
  std::vector<Reference> values = {};
  std::vector<int> uses = {};  // the number of steps that read each value
  std::int64_t most_elements = 0;
};

std::optional<Step> propose_step(Random& random, const Drawn& drawn);

// A number of a call. Some have the value of an earlier one, or of a constant.
GivenNumber propose_number(Random& random, const std::vector<GivenNumber>& earlier);

}  // namespace sinter::fuzz
