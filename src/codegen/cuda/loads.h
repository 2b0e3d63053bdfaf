// CudaLoads: a stage's loads as CUDA text: into registers, before anything is computed, so that
// many are under way at once; of transposed tiles through shared memory; and of what was fetched
// ahead from there. In: a Stage. Out: text, and where its tiles are (CudaState).
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "src/codegen/analysis/schedule.h"
#include "src/codegen/c_writer.h"
#include "src/codegen/cuda/values.h"
#include "src/codegen/cuda/vectors.h"

namespace sinter {

// What the text so far has left behind.
struct CudaState {
  std::set<tile::ValueId> arrays;               // tiles in registers
  std::set<tile::ValueId> packed;               // of them, those that lie there as in memory
  std::map<tile::ValueId, std::string> shared;  // tiles in shared memory: element's text
  // Loads that were fetched into an array of shared memory: for this program, and for all.
  std::map<tile::ValueId, std::string> fetched;
  std::map<tile::ValueId, std::string> fetched_once;
  std::int64_t shared_bytes = 0;
  int loop_depth = 0;
  bool first_loads = true;   // nothing has been loaded yet: what comes is far away
  bool cluster_met = false;  // every block of the cluster is known to run
  int exchanges = 0;         // cluster exchanges rendered so far
};

class CudaLoads {
 public:
  CudaLoads(const CudaValues& values, CudaState& state, CWriter& code, const Stage& stage)
      : values_(values),
        layout_(values.layout),
        vectors_(values, code),
        state_(state),
        code_(code),
        stage_(stage) {}

  // All that can be loaded before the stage's loops, and the barrier that tiles in shared memory
  // need.
  void render();
  // The others: inside the loop over vectors, or over rows; one vector's elements.
  void render_near(bool in_rows);

  bool is_near(tile::ValueId id) const;
  // Known before any element is computed, so that it can be loaded ahead of the loops.
  static bool can_load_early(const CudaValues& values, const tile::Instr& load);
  // Whether it can be fetched into shared memory before its program begins: whole packs.
  static bool can_be_fetched(const CudaValues& values, const tile::Instr& load);

  // Fetches a program's elements, into the array's part `slot`; or what all programs share.
  void render_fetch(const tile::Instr& load);

 private:
  void render_one(const tile::Instr& load, bool far);
  void render_vectors_of(const tile::Instr& load, const std::string& to,
                         const std::string& element);
  void render_fetched(const tile::Instr& load);
  void render_take(const tile::Instr& load, const std::string& to);
  void render_vector_load(const tile::Instr& load, const Affine& offsets, const std::string& to);
  void render_single_loads(const tile::Instr& load, const Affine& offsets,
                           const std::string& element);
  void render_shared_tile(const tile::Instr& load);
  void open_shared_tile(const tile::Instr& load);
  void render_shared_puts();
  bool goes_through_shared(const tile::Instr& load) const;
  int row_pack_width(const tile::Instr& load) const;
  std::int64_t shared_bytes(const tile::Instr& load) const;
  const std::string& fetched_array(const tile::Instr& load) const;
  std::string pack_index(const tile::Instr& load) const;
  std::string other_text(const tile::Instr& load) const;
  bool can_stay_packed(const tile::Instr& load) const;
  const char* reading_of(const tile::Instr& load) const;
  // Where the vectors of a load that is declared here go.
  std::string declare(const tile::Instr& load);

  const CudaValues& values_;
  const tile::ThreadLayout& layout_;
  const CudaVectors vectors_;
  CudaState& state_;
  CWriter& code_;
  const Stage& stage_;
  std::vector<const tile::Instr*> near_;          // loads inside the loops
  std::vector<const tile::Instr*> shared_tiles_;  // that go through shared memory
};

}  // namespace sinter
