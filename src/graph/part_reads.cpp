// Composes the concat's view with each part, padded to the size of the concat.
#include "src/graph/part_reads.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace sinter {
namespace {

struct Range {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

// How a view walks along one axis of the tensor it reads: index i of its own axis is at
// start + i * step. Without an axis all elements are at `start`.
struct Walk {
  int axis = -1;
  std::int64_t start = 0;
  std::int64_t step = 0;
};

std::optional<Walk> walk_along(const View& view, const Shape& shape, int axis) {
  View positions{shape, Shape::filled(shape.rank(), 0), 0};
  positions.strides[axis] = 1;
  const auto seen = compose(inside_window(view), positions);
  if (!seen) return std::nullopt;
  Walk walk{.start = seen->offset};
  for (int i = 0; i < seen->shape.rank(); ++i) {
    if (seen->strides[i] == 0 || view.shape[i] == 1) continue;
    if (walk.axis >= 0) return std::nullopt;
    walk.axis = i;
    walk.step = seen->strides[i];
  }
  if (walk.axis >= 0 && view.window) walk.start -= view.window->first[walk.axis] * walk.step;
  return walk;
}

// The indices of the view's axis that show positions [first, last) of `length`.
Range indices_of(const Walk& walk, const View& view, const Range& positions, std::int64_t length) {
  if (walk.axis < 0)
    return {0, positions.first <= walk.start && walk.start < positions.last ? 1 : 0};
  const Scalar fill;
  const View part{{positions.last - positions.first}, {1}, 0};
  const std::int64_t count = view.shape[walk.axis];
  const auto padded = pad(part, 0, positions.first, length - positions.last, fill);
  const View seen = slice(*padded, 0, SlicedAxis{walk.start, count, walk.step});
  Range range = seen.window ? Range{seen.window->first[0], seen.window->last[0]} : Range{0, count};
  if (view.window) {
    range.first = std::max(range.first, view.window->first[walk.axis]);
    range.last = std::min(range.last, view.window->last[walk.axis]);
  }
  return range;
}

}  // namespace

View with_fill(const View& view, const Scalar& fill) {
  if (!view.window) return view;
  View result = view;
  Window window = *view.window;
  window.fill = fill;
  result.window = std::make_shared<const Window>(window);
  return result;
}

std::optional<VisibleParts> visible_parts(const Node& concat, const View& view) {
  const auto axis = static_cast<int>(concat.axes);
  const std::int64_t length = concat.shape[axis];
  const auto walk = walk_along(view, concat.shape, axis);
  if (!walk || inside_window(view).shape.numel() == 0) return std::nullopt;
  VisibleParts visible;
  std::int64_t end = 0;
  for (const Operand& part : concat.operands) {
    const Range positions{end, end + part.view.shape[axis]};
    end = positions.last;
    if (part.view.shape.numel() == 0) continue;
    const Range range = indices_of(*walk, view, positions, length);
    if (range.first >= range.last) continue;
    const Scalar zero = Scalar::of(std::int64_t{0}).as(concat.dtype);
    const Scalar fill = part.view.window ? part.view.window->fill : zero;
    const auto whole = pad(part.view, axis, positions.first, length - positions.last, fill);
    const auto seen = whole ? compose(with_fill(view, fill), *whole) : std::nullopt;
    if (!seen) return std::nullopt;
    visible.parts.push_back({{part.node, *seen}, range.first, part.view.is_padded()});
  }
  const auto is_before = [](const VisiblePart& a, const VisiblePart& b) {
    return a.first < b.first;
  };
  std::sort(visible.parts.begin(), visible.parts.end(), is_before);
  if (visible.parts.size() > 1) visible.axis = walk->axis;
  return visible;
}

}  // namespace sinter
