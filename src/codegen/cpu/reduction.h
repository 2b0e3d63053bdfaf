// Reduction: one reduction along the columns as lines of C++. Vectors are gathered in accumulators,
// several of them where the loop is unrolled; long sums are taken in blocks, added to a total.
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
  // Takes one vector in.
  void step(VectorBody& body, int number) const;
  // Takes another accumulator into the first, and makes it ready to be used again.
  void merge(int number) const;
  void finish() const;

  void declare_total() const;
  void put_away() const;    // from the accumulator to the total
  void take_total() const;  // back, at the end

 private:
  std::string accumulator(int number, std::size_t result = 0) const;
  std::string identity() const;
  void step(int number, const std::string& value, const std::string& position) const;

  const CpuValues* values_;
  CWriter* code_;
  const tile::Instr* instr_;
};

}  // namespace sinter
