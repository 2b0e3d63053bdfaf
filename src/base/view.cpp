// Strided-view algebra. The stride of an axis of size 1 is ignored.
#include "src/base/view.h"

#include <algorithm>
#include <vector>

#include "src/base/check.h"

namespace sinter {

Strides row_major(const Shape& shape) {
  Strides strides = Shape::filled(shape.rank(), 0);
  std::int64_t step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

View dense_view(const Shape& shape) { return {shape, row_major(shape), 0}; }

bool is_dense(const View& view) {
  if (view.shape.numel() == 0) return true;
  const Strides expected = row_major(view.shape);
  for (int i = 0; i < view.shape.rank(); ++i)
    if (view.shape[i] != 1 && view.strides[i] != expected[i]) return false;
  return true;
}

bool is_identity(const View& view) { return view.offset == 0 && is_dense(view); }

bool same_access(const View& a, const View& b) {
  if (a.shape != b.shape || a.offset != b.offset) return false;
  for (int i = 0; i < a.shape.rank(); ++i)
    if (a.shape[i] > 1 && a.strides[i] != b.strides[i]) return false;
  return true;
}

SlicedAxis sliced_axis(std::int64_t length, std::optional<std::int64_t> start,
                       std::optional<std::int64_t> stop, std::int64_t step) {
  const std::int64_t low = step > 0 ? 0 : -1;
  const std::int64_t high = step > 0 ? length : length - 1;
  const auto bound = [&](std::optional<std::int64_t> at, std::int64_t left_out) {
    if (!at) return left_out;
    return std::clamp(*at < 0 ? *at + length : *at, low, high);
  };
  const std::int64_t first = bound(start, step > 0 ? low : high);
  const std::int64_t end = bound(stop, step > 0 ? high : low);
  const std::int64_t distance = step > 0 ? end - first : first - end;
  if (distance <= 0) return {};
  // Unsigned, so that the smallest step has a magnitude.
  const auto size = step > 0 ? static_cast<std::uint64_t>(step) : -static_cast<std::uint64_t>(step);
  const auto count =
      static_cast<std::int64_t>((static_cast<std::uint64_t>(distance) - 1) / size) + 1;
  return {first, count, count > 1 ? step : 1};
}

View permute(const View& view, const Shape& axes) {
  View result = view;
  for (int i = 0; i < axes.rank(); ++i) {
    result.shape[i] = view.shape[static_cast<int>(axes[i])];
    result.strides[i] = view.strides[static_cast<int>(axes[i])];
  }
  return result;
}

View slice(const View& view, int axis, std::int64_t start, std::int64_t size, std::int64_t step) {
  View result = view;
  result.offset += start * view.strides[axis];
  result.shape[axis] = size;
  result.strides[axis] *= step;
  return result;
}

View slice(const View& view, int axis, const SlicedAxis& elements) {
  const auto [first, count, step] = elements;
  if (step > 0) return slice(view, axis, first, count, step);
  return reversed(slice(view, axis, first + (count - 1) * step, count, -step), 1u << axis);
}

View reversed(const View& view, std::uint32_t axes) {
  View result = view;
  for (int i = 0; i < view.shape.rank(); ++i)
    if ((axes >> i & 1) && view.shape[i] > 1)
      result = slice(result, i, view.shape[i] - 1, view.shape[i], -1);
  return result;
}

bool has_negative_strides(const View& view) {
  for (int i = 0; i < view.shape.rank(); ++i)
    if (view.shape[i] > 1 && view.strides[i] < 0) return true;
  return false;
}

View expand(const View& view, const Shape& shape) {
  View result{shape, Shape::filled(shape.rank(), 0), view.offset};
  const int lead = shape.rank() - view.shape.rank();
  for (int i = 0; i < view.shape.rank(); ++i)
    result.strides[lead + i] = view.shape[i] == 1 ? 0 : view.strides[i];
  return result;
}

View insert_axis(const View& view, int axis) {
  View result = view;
  result.shape.insert(axis, 1);
  result.strides.insert(axis, 0);
  return result;
}

View remove_axis(const View& view, int axis) {
  View result = view;
  result.shape.erase(axis);
  result.strides.erase(axis);
  return result;
}

std::optional<View> reshape(const View& view, const Shape& shape) {
  View result{shape, row_major(shape), view.offset};
  if (shape.numel() == 0 || is_dense(view)) return result;
  // Walk both shapes from the left, matching runs of source axes with runs of target axes that have
  // the same number of elements; inside a run the source must be row-major.
  std::vector<int> source;
  for (int i = 0; i < view.shape.rank(); ++i)
    if (view.shape[i] != 1) source.push_back(i);
  std::size_t s = 0;
  int t = 0;
  while (s < source.size()) {
    std::int64_t have = view.shape[source[s]];
    std::size_t s_end = s + 1;
    int t_end = t;
    std::int64_t want = 1;
    while (want != have) {
      if (want < have) {
        want *= shape[t_end++];
      } else {
        if (view.strides[source[s_end - 1]] !=
            view.strides[source[s_end]] * view.shape[source[s_end]])
          return std::nullopt;
        have *= view.shape[source[s_end++]];
      }
    }
    std::int64_t step = view.strides[source[s_end - 1]];
    for (int i = t_end - 1; i >= t; --i) {
      result.strides[i] = step;
      step *= shape[i];
    }
    t = t_end;
    s = s_end;
  }
  for (; t < shape.rank(); ++t) result.strides[t] = 0;
  return result;
}

View merge_axes(const View& view) {
  View merged{{}, {}, view.offset};
  for (int i = 0; i < view.shape.rank(); ++i) {
    if (view.shape[i] == 1) continue;
    const int last = merged.shape.rank() - 1;
    if (last >= 0 && merged.strides[last] == view.strides[i] * view.shape[i]) {
      merged.shape[last] *= view.shape[i];
      merged.strides[last] = view.strides[i];
    } else {
      merged.shape.push_back(view.shape[i]);
      merged.strides.push_back(view.strides[i]);
    }
  }
  return merged;
}

std::optional<View> compose(const View& outer, const View& unmerged_inner) {
  if (is_dense(unmerged_inner) || outer.shape.numel() == 0)
    return View{outer.shape, outer.strides, outer.offset + unmerged_inner.offset};
  const View inner = merge_axes(unmerged_inner);
  // Each outer axis must run along one inner axis; the offset gives the start index on each.
  const Strides inner_steps = row_major(inner.shape);
  const int rank = inner.shape.rank();
  Shape first = Shape::filled(rank, 0);  // index range on each inner axis
  std::int64_t rest = outer.offset;
  for (int i = 0; i < rank; ++i) {
    first[i] = rest / inner_steps[i];
    rest %= inner_steps[i];
  }
  Shape last = first;
  View result{outer.shape, Shape::filled(outer.shape.rank(), 0), inner.offset};
  for (int i = 0; i < rank; ++i) result.offset += first[i] * inner.strides[i];
  for (int o = 0; o < outer.shape.rank(); ++o) {
    if (outer.shape[o] == 1 || outer.strides[o] == 0) continue;
    int axis = 0;
    while (axis < rank && outer.strides[o] % inner_steps[axis] != 0) ++axis;
    if (axis == rank) return std::nullopt;
    const std::int64_t step = outer.strides[o] / inner_steps[axis];
    (step < 0 ? first : last)[axis] += step * (outer.shape[o] - 1);
    if (first[axis] < 0 || last[axis] >= inner.shape[axis]) return std::nullopt;
    result.strides[o] = step * inner.strides[axis];
  }
  return result;
}

std::int64_t distinct_elements(const View& view) {
  std::int64_t count = 1;
  for (int i = 0; i < view.shape.rank(); ++i)
    if (view.strides[i] != 0 || view.shape[i] == 0) count *= view.shape[i];
  return count;
}

Extent extent(const View& view) {
  if (view.shape.numel() == 0) return {};
  Extent range{view.offset, view.offset};
  for (int i = 0; i < view.shape.rank(); ++i) {
    const std::int64_t span = (view.shape[i] - 1) * view.strides[i];
    (span < 0 ? range.first : range.last) += span;
  }
  return range;
}

std::string to_string(const View& view) {
  return fmt::format("{} strides {} offset {}", to_string(view.shape), to_string(view.strides),
                     view.offset);
}

}  // namespace sinter
