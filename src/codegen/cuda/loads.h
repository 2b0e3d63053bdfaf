// CudaLoads: renders a stage's loads as CUDA text: into registers before any computation, so that
// many are in flight at once; transposed tiles through shared memory; and prefetched tiles from
// shared memory. In: a Stage. Out: text, and where its tiles are (CudaState).
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "src/codegen/analysis/schedule.h"
#include "src/codegen/c_writer.h"
#include "src/codegen/cuda/dense_tiles.h"
#include "src/codegen/cuda/transposed_tiles.h"
#include "src/codegen/cuda/values.h"
#include "src/codegen/cuda/vectors.h"

namespace sinter {

// State of the rendered text so far.
struct CudaState {
  std::set<tile::ValueId> arrays;               // tiles in registers
  std::set<tile::ValueId> packed;               // those of `arrays` in packed storage format
  std::map<tile::ValueId, std::string> shared;  // tiles in shared memory: text of an element
  // Names of the shared-memory arrays of prefetched loads: per program, and common to all programs.
  std::map<tile::ValueId, std::string> fetched;
  std::map<tile::ValueId, std::string> fetched_once;
  std::int64_t shared_bytes = 0;
  int loop_depth = 0;
  bool first_loads = true;       // nothing loaded yet: the next loads come from memory, not cache
  bool cluster_started = false;  // every block of the cluster is known to have started
  int exchanges = 0;             // cluster exchanges rendered so far
};

// Whether a block moves the load's or store's tile as one run. Takes its shared memory if so.
bool take_dense_tile(const CudaValues& values, CudaState& state, const tile::Instr& access);

class CudaLoads {
 public:
  CudaLoads(const CudaValues& values, CudaState& state, CWriter& code, const Stage& stage)
      : values_(values),
        layout_(values.layout),
        vectors_(values, code),
        dense_(values, code),
        transposed_(values, code),
        state_(state),
        code_(code),
        stage_(stage) {}

  // Loads everything possible before the stage's loops, with the barriers for tiles in shared
  // memory.
  void render();
  // Loads the remaining tiles, vector by vector, inside the loop over vectors or over rows.
  void render_near(bool in_rows);

  bool is_near(tile::ValueId id) const;
  // Whether the address is known before any element is computed, so that the load can go before the
  // loops.
  static bool can_load_early(const CudaValues& values, const tile::Instr& load);
  // Whether the load can be prefetched into shared memory: it must consist of whole packs.
  static bool can_be_fetched(const CudaValues& values, const tile::Instr& load);

  // Prefetches a program's elements into part `slot` of the array, or data common to all programs.
  void render_fetch(const tile::Instr& load);

 private:
  void render_one(const tile::Instr& load, bool early);
  void render_vectors_of(const tile::Instr& load, const std::string& to,
                         const std::string& element);
  void render_fetched(const tile::Instr& load);
  void render_take(const tile::Instr& load, const std::string& to);
  void render_vector_load(const tile::Instr& load, const Affine& offsets, const std::string& to);
  void render_single_loads(const tile::Instr& load, const Affine& offsets,
                           const std::string& element);
  void render_shared_puts();
  bool goes_through_shared(const tile::Instr& load) const;
  const std::string& fetched_array(const tile::Instr& load) const;
  std::string pack_index(const tile::Instr& load) const;
  std::string other_text(const tile::Instr& load) const;
  bool can_stay_packed(const tile::Instr& load) const;
  const char* reading_of(const tile::Instr& load) const;
  // Declares the registers of a load; returns the destination of its current vector.
  std::string declare(const tile::Instr& load);

  const CudaValues& values_;
  const tile::ThreadLayout& layout_;
  const CudaVectors vectors_;
  const CudaDenseTiles dense_;
  const CudaTransposedTiles transposed_;
  CudaState& state_;
  CWriter& code_;
  const Stage& stage_;
  std::vector<const tile::Instr*> near_;              // loads inside the loops
  std::vector<const tile::Instr*> transposed_tiles_;  // loads of columns
  std::vector<const tile::Instr*> dense_tiles_;       // loads of runs
};

}  // namespace sinter
