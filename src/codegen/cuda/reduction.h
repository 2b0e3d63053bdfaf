// CudaReduction: one reduce instruction as CUDA text. A thread reduces its own elements, the lanes
// of a warp exchange theirs, warps and blocks that share a row exchange partial results in slots of
// shared memory.
#pragma once

#include <string>
#include <vector>

#include "src/codegen/c_writer.h"
#include "src/codegen/cuda/values.h"
#include "src/codegen/cuda/vectors.h"

namespace sinter {

class CudaReduction {
 public:
  // `pairs`: the type of packed vectors that it reduces as they are; empty: it reduces elements.
  CudaReduction(const CudaValues& values, CWriter& code, const tile::Instr& instr,
                std::string pairs);

  static bool can_reduce_pairs(const tile::Instr& instr);
  bool reduces_pairs() const { return !pairs_.empty(); }

  const tile::Instr& instr() const { return *instr_; }

  int slot_bytes() const;  // that a block is given

  // In this order; the second inside the loops over elements, or over vectors if these are pairs;
  // put and take around a barrier (or a cluster exchange: the text that names its barrier)
  // and only where slots are needed.
  void declare_parts() const;
  void accumulate(const std::vector<std::string>& entering, const std::string& where) const;
  void accumulate_pairs(const std::string& entering, const std::string& where) const;
  void reduce_warp() const;
  void put_parts(const std::string& exchange) const;
  void take_parts() const;

 private:
  tile::TileShape shape() const { return values_.shape(instr_->args[0]); }
  int row_steps() const { return values_.layout.row_steps(shape()); }
  std::string type() const;      // of a part
  std::string identity() const;  // a part that changes nothing
  std::string kind() const;
  std::string part_index() const;
  std::string first_part() const;  // of a row
  std::string pairs_text() const;  // a row's
  void combine(const std::string& part, const std::string& value, const std::string& where) const;
  std::string slots() const;     // the arguments that name the slots
  std::string slot_row() const;  // which row's slots
  std::vector<DType> slot_types() const;
  void set_results(const std::string& value) const;

  const CudaValues& values_;
  CudaVectors vectors_;
  CWriter& code_;
  const tile::Instr* instr_;
  std::string name_;
  std::string pairs_;
};

}  // namespace sinter
