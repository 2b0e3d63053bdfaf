// CudaReduction: one reduce instruction as CUDA text. A thread reduces its own elements, the lanes
// of a warp combine theirs with shuffles, and warps and blocks that share a row exchange partial
// results in slots of shared memory.
#pragma once

#include <string>
#include <vector>

#include "src/codegen/c_writer.h"
#include "src/codegen/cuda/values.h"
#include "src/codegen/cuda/vectors.h"

namespace sinter {

class CudaReduction {
 public:
  // `packed_type`: the type (half2 vectors) to reduce without unpacking; empty: reduces elements.
  CudaReduction(const CudaValues& values, CWriter& code, const tile::Instr& instr,
                std::string packed_type);

  static bool can_reduce_packed(const tile::Instr& instr);
  bool reduces_packed() const { return !packed_type_.empty(); }

  const tile::Instr& instr() const { return *instr_; }

  int slot_bytes() const;  // bytes of slots that a block receives

  // To be called in this order: accumulate() inside the loops over elements, or accumulate_packed()
  // inside the loop over vectors. put_parts() and take_parts() only if slots are needed, with a
  // barrier between them, or a cluster exchange (`exchange`: the text that names its mbarrier).
  void declare_parts() const;
  void accumulate(const std::vector<std::string>& entering, const std::string& where) const;
  void accumulate_packed(const std::string& entering, const std::string& where) const;
  void reduce_warp() const;
  void put_parts(const std::string& exchange) const;
  void take_parts() const;

 private:
  tile::TileShape shape() const { return values_.shape(instr_->args[0]); }
  int row_steps() const { return values_.layout.row_steps(shape()); }
  std::string type() const;      // of a partial result
  std::string identity() const;  // the identity element, as a partial result
  std::string kind() const;
  std::string part_index() const;
  std::string first_part() const;   // first partial result of a row
  std::string packed_text() const;  // packed accumulator of a row
  bool visits_in_order() const;
  void combine(const std::string& part, const std::string& value, const std::string& where) const;
  std::string slots() const;     // arguments that name the slot arrays
  std::string slot_row() const;  // row index of the slots
  std::vector<DType> slot_types() const;
  void set_results(const std::string& value) const;

  const CudaValues& values_;
  CudaVectors vectors_;
  CWriter& code_;
  const tile::Instr* instr_;
  std::string name_;
  std::string packed_type_;
};

}  // namespace sinter
