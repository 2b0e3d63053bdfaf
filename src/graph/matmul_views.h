// Views that express a matrix product as a contraction: both operands are broadcast to one space of
// batches, rows, columns and the summed axis. In: the views of two operands. Out: their views in
// that space, and the result's shape.
#pragma once

#include <cstdint>
#include <string>

#include "src/base/view.h"

namespace sinter {

struct MatmulViews {
  View a;  // (batches.., rows, columns, summed)
  View b;
  std::uint32_t axes = 0;  // bit of the summed axis
  // Axes to remove from the contraction's result: a 1-D operand contributes no rows or no columns.
  std::uint32_t extra_axes = 0;
  std::string refusal;  // why the shapes cannot be multiplied; empty if they can
};

MatmulViews matmul_views(const View& a, const View& b);

// View of the contraction's result as the matrix product: drops the extra axes.
View matmul_result(const View& contracted, const MatmulViews& views);

}  // namespace sinter
