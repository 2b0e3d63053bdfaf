// The views by which a matrix product is a contraction: both operands are seen in one space of
// batches, rows, columns and the axis that is summed. In: two operands' views. Out: their views in
// that space, and what the result looks like.
#pragma once

#include <cstdint>
#include <string>

#include "src/base/view.h"

namespace sinter {

struct MatmulViews {
  View a;  // (batches.., rows, columns, summed)
  View b;
  std::uint32_t axes = 0;  // the one that is summed
  // Axes of the contraction's result that are not the product's: operands of one axis have no rows
  // or columns.
  std::uint32_t extra_axes = 0;
  std::string refusal;  // not empty: there is no such product
};

MatmulViews matmul_views(const View& a, const View& b);

// The product's view of the contraction's result.
View matmul_result(const View& contracted, const MatmulViews& views);

}  // namespace sinter
