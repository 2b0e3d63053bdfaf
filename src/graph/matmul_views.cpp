// 1-D operands get a unit axis; batch axes are broadcast.
#include "src/graph/matmul_views.h"

#include <algorithm>

#include "src/base/check.h"

namespace sinter {
namespace {

// The common shape of two operands' batches, right-aligned; false if they do not broadcast.
bool broadcast_batches(const Shape& a, const Shape& b, Shape& batches) {
  for (int i = 0; i < std::max(a.rank(), b.rank()) - 2; ++i) {
    const int from_a = a.rank() - 3 - i;
    const int from_b = b.rank() - 3 - i;
    const std::int64_t size_a = from_a >= 0 ? a[from_a] : 1;
    const std::int64_t size_b = from_b >= 0 ? b[from_b] : 1;
    if (size_a != size_b && size_a != 1 && size_b != 1) return false;
    batches.insert(0, size_a == 1 ? size_b : size_a);
  }
  return true;
}

std::string refusal_of(const View& a, const View& b) {
  if (a.shape.rank() == 0 || b.shape.rank() == 0)
    return fmt::format("a is {}, b is {}; both need at least one axis: multiply by a scalar with *",
                       to_string(a.shape), to_string(b.shape));
  if (std::max(a.shape.rank(), b.shape.rank()) >= kMaxRank)
    return fmt::format("takes tensors of up to {} axes, got {} and {}", kMaxRank - 1,
                       to_string(a.shape), to_string(b.shape));
  const std::int64_t summed_a = a.shape[a.shape.rank() - 1];
  const std::int64_t summed_b = b.shape[std::max(0, b.shape.rank() - 2)];
  if (summed_a != summed_b)
    return fmt::format("inner dimensions differ: a is {}, b is {}", to_string(a.shape),
                       to_string(b.shape));
  return "";
}

}  // namespace

MatmulViews matmul_views(const View& given_a, const View& given_b) {
  MatmulViews views;
  views.refusal = refusal_of(given_a, given_b);
  if (!views.refusal.empty()) return views;
  const bool has_rows = given_a.shape.rank() > 1;
  const bool has_columns = given_b.shape.rank() > 1;
  const View a = has_rows ? given_a : insert_axis(given_a, 0);
  const View b = has_columns ? given_b : insert_axis(given_b, 1);
  Shape space;
  if (!broadcast_batches(a.shape, b.shape, space)) {
    views.refusal = fmt::format("batch dimensions do not broadcast: a is {}, b is {}",
                                to_string(given_a.shape), to_string(given_b.shape));
    return views;
  }
  const int rows = space.rank();
  space.push_back(a.shape[a.shape.rank() - 2]);
  space.push_back(b.shape[b.shape.rank() - 1]);
  space.push_back(a.shape[a.shape.rank() - 1]);

  Shape swapped;  // b with its columns before the summed axis
  for (int i = 0; i < b.shape.rank() - 2; ++i) swapped.push_back(i);
  swapped.push_back(b.shape.rank() - 1);
  swapped.push_back(b.shape.rank() - 2);
  views.a = expand(insert_axis(a, a.shape.rank() - 1), space);
  views.b = expand(insert_axis(permute(b, swapped), b.shape.rank() - 2), space);
  views.axes = 1u << (rows + 2);
  if (!has_rows) views.extra_axes |= 1u << rows;
  if (!has_columns) views.extra_axes |= 1u << (rows + 1);
  return views;
}

View matmul_result(const View& contracted, const MatmulViews& views) {
  View result = contracted;
  for (int i = contracted.shape.rank() - 1; i >= 0; --i)
    if (views.extra_axes >> i & 1) result = remove_axis(result, i);
  return result;
}

}  // namespace sinter
