// One tile operation per node, in evaluation order; stores last.
#include "src/lower/whole_tiles.h"

#include "src/lower/group_values.h"

namespace sinter {

Kernel lower_whole_tiles(const Plan& plan, GroupId group, const IterationSpace& space,
                         const Tiling& tiling) {
  GroupValues values(plan, group, space, tiling);
  tile::Builder& b = values.builder();
  if (values.col_is_reduced()) values.move_to(tiling.col_axis, b.integer(0));
  for (NodeId id : values.group().nodes) {
    const Node& node = values.graph()[id];
    if (is_reduction(node.op))
      values.set_reduced(id, b.reduce(node.reduce_kind, values.reduction_args(id)));
    else
      values.value(id);
  }
  for (NodeId id : values.group().outputs) values.write(id, values.value(id));
  return values.finish();
}

}  // namespace sinter
