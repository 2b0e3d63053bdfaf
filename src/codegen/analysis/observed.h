// ObservedLimits: liveness of a value's rows and columns. Elements that no store, reduction or
// address depends on need not be computed, so loops may stop before them.
// In: a TileProgram and its masks. Out: for each value and axis: nothing, a limit, or everything.
#pragma once

#include <array>
#include <vector>

#include "src/codegen/analysis/affine.h"
#include "src/tile/program.h"

namespace sinter {

class ObservedLimits {
 public:
  ObservedLimits(const tile::TileProgram& program, const IndexAnalysis& index);

  // Whether the value's rows (or columns) from that limit on are dead.
  bool ends_at(tile::ValueId id, tile::Axis axis, const Index& limit) const;

 private:
  enum class Extent { nothing, limited, everything };
  struct Sight {
    Extent extent = Extent::nothing;
    const Index* limit = nullptr;  // for Extent::limited; owned by the IndexAnalysis
    friend bool operator==(const Sight& a, const Sight& b) {
      return a.extent == b.extent &&
             (a.limit == b.limit || (a.limit && b.limit && *a.limit == *b.limit));
    }
  };
  static Sight up_to(const Index* limit);
  static Sight joined(const Sight& a, const Sight& b);

  void visit(const std::vector<tile::Instr>& block);
  void visit(const tile::Instr& instr, tile::Axis axis);
  void visit_load(const tile::Instr& instr, tile::Axis axis, const Sight& seen);
  void visit_loop(const tile::Instr& loop, tile::Axis axis);
  void see(tile::ValueId id, tile::Axis axis, const Sight& sight);
  const Index* limit_of(tile::ValueId mask, tile::Axis axis) const;  // nullptr: no limit
  Sight& sight(tile::ValueId id, tile::Axis axis) {
    return sights_[id][static_cast<std::size_t>(axis)];
  }

  const IndexAnalysis& index_;
  ById<tile::ValueId, std::array<Sight, 2>> sights_;  // by value, then by axis
  bool changed_ = false;
};

}  // namespace sinter
