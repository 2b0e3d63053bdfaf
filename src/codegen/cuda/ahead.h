// CudaAhead: what a block that runs one program after the other does ahead of a program.
// In: a program's values and its stages. Out: what all programs share, to be computed and loaded
// once, and the loads that are fetched into shared memory while an earlier program runs.
#pragma once

#include <set>
#include <vector>

#include "src/codegen/analysis/schedule.h"
#include "src/codegen/cuda/values.h"

namespace sinter {

class CudaAhead {
 public:
  CudaAhead(const CudaValues& values, const std::vector<Stage>& stages);

  bool is_shared(const tile::Instr& instr) const;  // by all programs

  // Of tiles that all programs share: into registers, or, where these are scarce, shared memory.
  const std::vector<const tile::Instr*>& shared_loads() const { return shared_loads_; }
  const std::vector<const tile::Instr*>& late_shared_loads() const { return late_shared_loads_; }
  const std::vector<const tile::Instr*>& fetched_loads() const { return fetched_loads_; }
  // Of which the addresses of what is fetched are made.
  const std::vector<const tile::Instr*>& offsets() const { return offsets_; }

 private:
  void find_varying(const CudaValues& values);
  // Whether where it loads follows from offsets() alone.
  bool is_known_ahead(const tile::Instr& load) const;

  std::set<tile::ValueId> varying_;   // from program to program
  std::set<tile::ValueId> computed_;  // of these, scalars that are no offsets, and what needs them
  std::vector<const tile::Instr*> shared_loads_;
  std::vector<const tile::Instr*> late_shared_loads_;
  std::vector<const tile::Instr*> fetched_loads_;
  std::vector<const tile::Instr*> offsets_;
};

}  // namespace sinter
