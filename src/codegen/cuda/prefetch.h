// CudaPrefetch: which loads a persistent block, which runs one program after another, can issue
// early. In: a program's values and its stages. Out: loads and scalars that are the same for all
// programs and need loading once, and loads that are prefetched into shared memory while an earlier
// program runs.
#pragma once

#include <set>
#include <vector>

#include "src/codegen/analysis/schedule.h"
#include "src/codegen/cuda/values.h"

namespace sinter {

class CudaPrefetch {
 public:
  CudaPrefetch(const CudaValues& values, const std::vector<Stage>& stages);

  bool is_shared(const tile::Instr& instr) const;  // the same in all programs

  // Loads that are the same in all programs: into registers, or into shared memory if registers are
  // scarce.
  const std::vector<const tile::Instr*>& shared_loads() const { return shared_loads_; }
  const std::vector<const tile::Instr*>& late_shared_loads() const { return late_shared_loads_; }
  const std::vector<const tile::Instr*>& fetched_loads() const { return fetched_loads_; }
  // Scalars from which the addresses of the prefetched tiles are computed.
  const std::vector<const tile::Instr*>& offsets() const { return offsets_; }

 private:
  void find_varying(const CudaValues& values);
  // Whether the load's offsets and mask depend on offsets() alone.
  bool has_early_address(const tile::Instr& load) const;

  std::set<tile::ValueId> varying_;   // values that differ between programs
  std::set<tile::ValueId> computed_;  // of these, scalars other than offsets, and their uses
  std::vector<const tile::Instr*> shared_loads_;
  std::vector<const tile::Instr*> late_shared_loads_;
  std::vector<const tile::Instr*> fetched_loads_;
  std::vector<const tile::Instr*> offsets_;
};

}  // namespace sinter
