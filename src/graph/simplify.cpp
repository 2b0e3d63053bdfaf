// The list of passes.
#include "src/graph/simplify.h"

#include <utility>

namespace sinter {

std::span<const GraphPass> simplify_passes() {
  static constexpr GraphPass kPasses[] = {
      {"copy_reversed_outputs", copy_reversed_outputs},
      {"fold_constants", fold_constants},
      {"fold_functions", fold_functions, Bits::free},
      {"use_identities", use_identities, Bits::free},
      {"pick_before_work", pick_before_work, Bits::free, ForFusion::yes},
      {"narrow_integers", narrow_integers, Bits::kept, ForFusion::yes},
      {"drop_unit_axes", drop_unit_axes},
      {"sink_views", sink_views},
      {"repeat_cheap_work", repeat_cheap_work, Bits::kept, ForFusion::yes},
      {"compute_where_read", compute_where_read, Bits::kept, ForFusion::yes},
      {"copy_reversed_outputs", copy_reversed_outputs},  // folding may expose reversed views
      {"merge_equal", merge_equal},
      {"reuse_maxima", reuse_maxima, Bits::free},
      {"remove_dead", remove_dead},
  };
  return kPasses;
}

Graph simplify(Graph graph, const SimplifyOptions& options, const ObservePass& observe) {
  Graph result = std::move(graph);
  for (const GraphPass& pass : simplify_passes()) {
    if (pass.bits == Bits::free && options.bits == Bits::kept) continue;
    if (pass.for_fusion == ForFusion::yes && !options.fuse) continue;
    result = pass.run(std::move(result));
    if (observe) observe(pass, result);
#ifndef NDEBUG
    verify(result);
#endif
  }
  return result;
}

}  // namespace sinter
