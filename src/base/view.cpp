// Strided-view algebra. The stride of an axis of size 1 is ignored.
#include "src/base/view.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "src/base/check.h"

namespace sinter {

Strides row_major(const Shape& shape) {
  Strides strides = shape;  // for its rank
  std::int64_t step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

View dense_view(const Shape& shape) { return {shape, row_major(shape), 0}; }

namespace {

// A window over all indices of a shape.
Window whole_window(const Shape& shape, const Scalar& fill) {
  return {Shape::filled(shape.rank(), 0), shape, fill};
}

// Null if the window covers the shape or the shape is empty.
WindowPtr shared(const Window& window, const Shape& shape) {
  if (shape.numel() == 0) return nullptr;
  if (window.first == Shape::filled(shape.rank(), 0) && window.last == shape) return nullptr;
  return std::make_shared<const Window>(window);
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {  // b > 0
  return a / b - (a % b < 0 ? 1 : 0);
}
std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return -floor_div(-a, b); }

struct Range {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

// Indices j < size for which start + j * step is in the range.
Range sliced(const Range& range, const SlicedAxis& axis) {
  Range result;
  if (axis.step > 0) {
    result.first = ceil_div(range.first - axis.first, axis.step);
    result.last = ceil_div(range.last - axis.first, axis.step);
  } else {
    result.first = ceil_div(axis.first - range.last + 1, -axis.step);
    result.last = floor_div(axis.first - range.first, -axis.step) + 1;
  }
  result.first = std::clamp<std::int64_t>(result.first, 0, axis.count);
  result.last = std::clamp<std::int64_t>(result.last, result.first, axis.count);
  return result;
}

}  // namespace

bool offsets_fit(const View& view) {
  constexpr std::int64_t kFarthest = std::int64_t{1} << 56;  // sums and byte counts fit as well
  std::int64_t reach = 0;
  for (int i = 0; i < view.shape.rank(); ++i) {
    std::int64_t span = 0;
    if (__builtin_mul_overflow(std::max<std::int64_t>(view.shape[i] - 1, 0), view.strides[i],
                               &span) ||
        span < -kFarthest || span > kFarthest)
      return false;
    reach += std::abs(span);
  }
  return reach <= kFarthest;
}

std::optional<View> pad(const View& view, int axis, std::int64_t before, std::int64_t after,
                        const Scalar& fill) {
  if (view.window && !same_bits(view.window->fill, fill)) return std::nullopt;
  View result = view;
  result.shape[axis] += before + after;
  if (result.shape.numel() == 0) return result;
  if (!offsets_fit(result)) return std::nullopt;
  Window window = view.window ? *view.window : whole_window(view.shape, fill);
  window.first[axis] += before;
  window.last[axis] += before;
  result.offset -= before * view.strides[axis];
  result.window = shared(window, result.shape);
  return result;
}

View inside_window(const View& view) {
  if (!view.window) return view;
  View result{view.shape, view.strides, view.offset};
  for (int i = 0; i < view.shape.rank(); ++i) {
    result.offset += view.window->first[i] * view.strides[i];
    result.shape[i] = view.window->last[i] - view.window->first[i];
  }
  return result;
}

bool shows_fill_only(const View& view) {
  return view.window && view.shape.numel() > 0 && inside_window(view).shape.numel() == 0;
}

bool is_dense(const View& view) {
  if (view.shape.numel() == 0) return true;
  if (view.window) return false;
  const Strides expected = row_major(view.shape);
  for (int i = 0; i < view.shape.rank(); ++i)
    if (view.shape[i] != 1 && view.strides[i] != expected[i]) return false;
  return true;
}

bool is_identity(const View& view) { return view.offset == 0 && is_dense(view); }

bool same_access(const View& a, const View& b) {
  if (a.shape != b.shape || a.offset != b.offset) return false;
  if (a.window || b.window) return a == b;
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
  if (view.window) {
    Window window = *view.window;
    for (int i = 0; i < axes.rank(); ++i) {
      window.first[i] = view.window->first[static_cast<int>(axes[i])];
      window.last[i] = view.window->last[static_cast<int>(axes[i])];
    }
    result.window = shared(window, result.shape);
  }
  return result;
}

View slice(const View& view, int axis, std::int64_t start, std::int64_t size, std::int64_t step) {
  View result = view;
  result.offset += start * view.strides[axis];
  result.shape[axis] = size;
  result.strides[axis] *= step;
  if (view.window) {
    Window window = *view.window;
    const Range range = sliced({window.first[axis], window.last[axis]},
                               {.first = start, .count = size, .step = step});
    window.first[axis] = range.first;
    window.last[axis] = range.last;
    result.window = shared(window, result.shape);
  }
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
  if (view.window) {
    Window window = whole_window(shape, view.window->fill);
    for (int i = 0; i < view.shape.rank(); ++i) {
      if (!view.is_padded_along(i)) continue;  // an axis of one element is in the window
      window.first[lead + i] = view.window->first[i];
      window.last[lead + i] = view.window->last[i];
    }
    result.window = shared(window, shape);
  }
  return result;
}

View without_repeats(const View& view) {
  View result = view;
  for (int i = 0; i < view.shape.rank(); ++i)
    if (view.shape[i] > 1 && view.strides[i] == 0 && !view.is_padded_along(i))
      result = slice(result, i, 0, 1, 1);
  return result;
}

View insert_axis(const View& view, int axis) {
  View result = view;
  result.shape.insert(axis, 1);
  result.strides.insert(axis, 0);
  if (view.window) {
    Window window = *view.window;
    window.first.insert(axis, 0);
    window.last.insert(axis, 1);
    result.window = shared(window, result.shape);
  }
  return result;
}

View remove_axis(const View& view, int axis) {
  View result = view;
  result.shape.erase(axis);
  result.strides.erase(axis);
  if (view.window) {
    Window window = *view.window;
    window.first.erase(axis);
    window.last.erase(axis);
    result.window = shared(window, result.shape);
  }
  return result;
}

namespace {

// The window of a reshaped view: the reshape must preserve padded axes. In row-major order an axis
// is identified by its size and its stride.
std::optional<Window> reshaped_window(const View& view, const Shape& shape) {
  const Strides inner = row_major(view.shape);
  const Strides new_inner = row_major(shape);
  Window window = whole_window(shape, view.window->fill);
  for (int i = 0; i < view.shape.rank(); ++i) {
    if (!view.is_padded_along(i)) continue;
    int axis = 0;
    while (axis < shape.rank() && (shape[axis] != view.shape[i] || new_inner[axis] != inner[i]))
      ++axis;
    if (axis == shape.rank()) return std::nullopt;
    window.first[axis] = view.window->first[i];
    window.last[axis] = view.window->last[i];
  }
  return window;
}

}  // namespace

std::optional<View> reshape(const View& view, const Shape& shape) {
  if (view.window && shape.numel() > 0) {
    const std::optional<Window> window = reshaped_window(view, shape);
    std::optional<View> result = reshape({view.shape, view.strides, view.offset}, shape);
    if (!window || !result) return std::nullopt;
    result->window = shared(*window, shape);
    return result;
  }
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
  Window window;
  bool is_last_padded = false;
  for (int i = 0; i < view.shape.rank(); ++i) {
    if (view.shape[i] == 1) continue;
    const int last = merged.shape.rank() - 1;
    const bool is_padded = view.is_padded_along(i);
    if (last >= 0 && merged.strides[last] == view.strides[i] * view.shape[i] && !is_padded &&
        !is_last_padded) {
      merged.shape[last] *= view.shape[i];
      merged.strides[last] = view.strides[i];
      window.last[last] = merged.shape[last];
    } else {
      merged.shape.push_back(view.shape[i]);
      merged.strides.push_back(view.strides[i]);
      window.first.push_back(is_padded ? view.window->first[i] : 0);
      window.last.push_back(is_padded ? view.window->last[i] : view.shape[i]);
    }
    is_last_padded = is_padded;
  }
  if (view.window) {
    window.fill = view.window->fill;
    merged.window = shared(window, merged.shape);
  }
  return merged;
}

namespace {

// Composes an unpadded view with one that may be padded.
class Composition {
 public:
  Composition(const View& outer, const View& inner)
      : outer_(outer), inner_(merge_axes(inner)), steps_(row_major(inner_.shape)) {}

  // Each outer axis must run along one inner axis; the offset gives the start index on each.
  std::optional<View> run() {
    const int rank = inner_.shape.rank();
    start_ = Shape::filled(rank, 0);
    std::int64_t rest = outer_.offset;
    for (int i = 0; i < rank; ++i) {
      start_[i] = rest / steps_[i];
      rest %= steps_[i];
    }
    first_ = last_ = start_;
    result_ = {outer_.shape, Shape::filled(outer_.shape.rank(), 0), inner_.offset};
    for (int i = 0; i < rank; ++i) result_.offset += start_[i] * inner_.strides[i];
    if (inner_.window) window_ = whole_window(outer_.shape, inner_.window->fill);
    for (int o = 0; o < outer_.shape.rank(); ++o)
      if (outer_.shape[o] != 1 && outer_.strides[o] != 0 && !place(o)) return std::nullopt;
    if (!inner_.window) return result_;
    if (!are_starts_inside()) return std::nullopt;
    result_.window = shared(window_, outer_.shape);
    if (shows_fill_only(result_)) return std::nullopt;
    return result_;
  }

 private:
  bool place(int o) {
    const int rank = inner_.shape.rank();
    int axis = 0;
    while (axis < rank && outer_.strides[o] % steps_[axis] != 0) ++axis;
    if (axis == rank) return false;
    const std::int64_t step = outer_.strides[o] / steps_[axis];
    (step < 0 ? first_ : last_)[axis] += step * (outer_.shape[o] - 1);
    if (first_[axis] < 0 || last_[axis] >= inner_.shape[axis]) return false;
    result_.strides[o] = step * inner_.strides[axis];
    if (!inner_.is_padded_along(axis)) return true;
    if (walked_ >> axis & 1) return false;  // a window cannot bound the sum of two indices
    walked_ |= 1u << axis;
    const Range range = sliced({inner_.window->first[axis], inner_.window->last[axis]},
                               {start_[axis], outer_.shape[o], step});
    window_.first[o] = range.first;
    window_.last[o] = range.last;
    return true;
  }

  // Padded axes that no outer axis runs along.
  bool are_starts_inside() const {
    for (int i = 0; i < inner_.shape.rank(); ++i)
      if (inner_.is_padded_along(i) && !(walked_ >> i & 1) &&
          (start_[i] < inner_.window->first[i] || start_[i] >= inner_.window->last[i]))
        return false;
    return true;
  }

  const View& outer_;
  const View inner_;
  const Strides steps_;  // of the inner axes' row-major elements
  Shape start_;
  Shape first_;  // index range on each inner axis
  Shape last_;
  View result_;
  Window window_;
  std::uint32_t walked_ = 0;  // padded inner axes that an outer axis runs along
};

}  // namespace

std::optional<View> compose(const View& outer, const View& inner) {
  if (outer.shape.numel() == 0 || (is_dense(inner) && !outer.window))
    return View{outer.shape, outer.strides, outer.offset + inner.offset};
  if (!outer.window) return Composition(outer, inner).run();
  // Composes the outer view's window with the inner view, then adds the outer padding.
  std::optional<View> result = compose(inside_window(outer), inner);
  if (!result || (result->window && !same_bits(result->window->fill, outer.window->fill)))
    return std::nullopt;
  for (int i = 0; i < outer.shape.rank(); ++i) {
    const std::int64_t before = outer.window->first[i];
    const std::int64_t after = outer.shape[i] - outer.window->last[i];
    if (before + after > 0) result = pad(*result, i, before, after, outer.window->fill);
    if (!result) return std::nullopt;
  }
  return result;
}

std::int64_t distinct_elements(const View& padded) {
  const View view = inside_window(padded);
  std::int64_t count = 1;
  for (int i = 0; i < view.shape.rank(); ++i)
    if (view.strides[i] != 0 || view.shape[i] == 0) count *= view.shape[i];
  return count;
}

Extent extent(const View& padded) {
  const View view = inside_window(padded);
  if (view.shape.numel() == 0) return {};
  Extent range{view.offset, view.offset};
  for (int i = 0; i < view.shape.rank(); ++i) {
    const std::int64_t span = (view.shape[i] - 1) * view.strides[i];
    (span < 0 ? range.first : range.last) += span;
  }
  return range;
}

std::string to_string(const View& view) {
  std::string text = fmt::format("{} strides {} offset {}", to_string(view.shape),
                                 to_string(view.strides), view.offset);
  if (view.window)
    text += fmt::format(" where {} to {} else {}", to_string(view.window->first),
                        to_string(view.window->last), to_string(view.window->fill));
  return text;
}

}  // namespace sinter
