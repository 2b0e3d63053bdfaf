// View: how a tensor reads the elements of a buffer: shape, strides and offset (in elements). A
// padded view reads them in a window of its indices and shows a number elsewhere. The functions
// return new views and never touch data; nullopt means the view is impossible without a copy.
#pragma once

#include <sinter/shape.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "src/base/scalar.h"

namespace sinter {

// Where a padded view reads its buffer: at indices [first, last) along every axis. Empty only in
// views returned by slice().
struct Window {
  Shape first;
  Shape last;
  Scalar fill;  // value elsewhere

  friend bool operator==(const Window& a, const Window& b) {
    return a.first == b.first && a.last == b.last && same_bits(a.fill, b.fill);
  }
};
using WindowPtr = std::shared_ptr<const Window>;

struct View {
  Shape shape;
  Strides strides;
  std::int64_t offset = 0;     // of index 0, which may lie outside the window and the buffer
  WindowPtr window = nullptr;  // null: all of the view; shared, so that other views stay small

  bool is_padded() const { return window != nullptr; }
  bool is_padded_along(int axis) const {
    return window && (window->first[axis] != 0 || window->last[axis] != shape[axis]);
  }
  friend bool operator==(const View& a, const View& b) {
    return a.shape == b.shape && a.strides == b.strides && a.offset == b.offset &&
           (a.window == b.window || (a.window && b.window && *a.window == *b.window));
  }
};

Strides row_major(const Shape& shape);
View dense_view(const Shape& shape);

// Whether the offsets of all its indices, also of those outside its window, are far from overflow.
bool offsets_fit(const View& view);
// Adds `before` and `after` indices on the two sides of an axis, filled with `fill`. Nullopt if the
// view is already padded with another number, or if the offsets of the new indices would not fit.
std::optional<View> pad(const View& view, int axis, std::int64_t before, std::int64_t after,
                        const Scalar& fill);
// The part of a view inside its window.
View inside_window(const View& view);
// Whether all elements of a view are its fill.
bool shows_fill_only(const View& view);

// Row-major order without gaps or padding (sizes of 1 may have any stride); the offset does not
// matter.
bool is_dense(const View& view);
// is_dense() at offset 0.
bool is_identity(const View& view);
// True if an axis with more than one element runs backwards.
bool has_negative_strides(const View& view);
// Equal, ignoring the strides of axes of size 1.
bool same_access(const View& a, const View& b);

// The elements of an axis that a slice takes: `count` from `first` on, `step` apart.
struct SlicedAxis {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t step = 1;
};

// Like Python's slice(start, stop, step).indices(length); `step` is not 0.
SlicedAxis sliced_axis(std::int64_t length, std::optional<std::int64_t> start,
                       std::optional<std::int64_t> stop, std::int64_t step);

View permute(const View& view, const Shape& axes);
View slice(const View& view, int axis, std::int64_t start, std::int64_t size, std::int64_t step);
// Backwards if the step is negative.
View slice(const View& view, int axis, const SlicedAxis& elements);
View reversed(const View& view, std::uint32_t axes);  // bit i reverses axis i
View expand(const View& view, const Shape& shape);    // right-aligned; axes of size 1 get stride 0
View without_repeats(const View& view);  // size 1 along broadcast axes, if not padded along them
View insert_axis(const View& view, int axis);
View remove_axis(const View& view, int axis);
std::optional<View> reshape(const View& view, const Shape& shape);

// The same elements in the same order with as few axes as possible.
View merge_axes(const View& view);

// `outer` indexes the row-major elements of `inner`; the result indexes inner's buffer directly.
std::optional<View> compose(const View& outer, const View& inner);

// The number of distinct elements it touches, and their index range [first, last].
std::int64_t distinct_elements(const View& view);
struct Extent {
  std::int64_t first = 0;
  std::int64_t last = -1;
};
Extent extent(const View& view);

std::string to_string(const View& view);

}  // namespace sinter
