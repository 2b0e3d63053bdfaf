// What a view of a concat shows: which parts, where, and each part through a view of its own.
// In: a concat and a view of its row-major elements. Out: padded views of its parts.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "src/graph/graph.h"

namespace sinter {

struct VisiblePart {
  Operand seen;  // the part's operand with the shape of the concat's view, padded where others show
  std::int64_t first = 0;  // the first index along VisibleParts::axis that shows it
  bool is_padded = false;  // the part itself, inside the concat
};

// Parts in the order in which the view shows them. Nothing is said of indices outside the window
// of a padded view.
struct VisibleParts {
  int axis = -1;  // of the view; -1 if it shows one part only
  std::vector<VisiblePart> parts;
};

// Nullopt if an element's part does not follow from one index of the view, or if the views of a
// part and of the concat do not compose.
std::optional<VisibleParts> visible_parts(const Node& concat, const View& view);

// The view with another number outside its window.
View with_fill(const View& view, const Scalar& fill);

}  // namespace sinter
