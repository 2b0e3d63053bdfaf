// Reduction: one reduction along the columns as lines of C++. Vectors are combined into
// accumulators, several if the loop is unrolled; long sums are computed in blocks that are added to
// a total.
#pragma once

#include <string>

#include "src/codegen/c_writer.h"
#include "src/codegen/cpu/values.h"
#include "src/codegen/cpu/vector_body.h"

namespace sinter {

class Reduction {
 public:
  Reduction(const CpuValues& values, CWriter& code, const tile::Instr& instr)
      : values_(&values), code_(&code), instr_(&instr) {}

  bool is_float_sum() const;

  void declare_results() const;
  void declare_accumulator(int number) const;
  // Accumulates one vector.
  void step(VectorBody& body, int number) const;
  // Adds another accumulator to the first, and resets it.
  void merge(int number) const;
  void finish() const;

  void declare_total() const;
  void put_away() const;    // adds the accumulator to the total, and resets it
  void take_total() const;  // adds the total to the accumulator, at the end

 private:
  std::string accumulator(int number, std::size_t result = 0) const;
  std::string identity() const;
  void step(int number, const std::string& value, const std::string& position) const;

  const CpuValues* values_;
  CWriter* code_;
  const tile::Instr* instr_;
};

}  // namespace sinter
