// Joins two spaces if they are equal, if one matches the other's kept axes, or if splitting axes
// makes them match, as after a reshape.
#include "src/fuse/group_space.h"

#include <algorithm>

#include "src/base/check.h"

namespace sinter {

std::int64_t numel(const GroupAxes& axes) {
  std::int64_t count = 1;
  for (const GroupAxis& axis : axes) count *= axis.size;
  return count;
}

bool is_cheap_in_any_order(std::int64_t elements, const GroupAxes& axes) {
  constexpr std::int64_t kInCaches = 1 << 16;
  constexpr std::int64_t kMuchLess = 8;
  return elements <= kInCaches || elements <= numel(axes) / kMuchLess;
}

std::uint32_t reduced_mask(const GroupAxes& axes) {
  std::uint32_t mask = 0;
  for (AxisId i = 0; i < axes.end_id(); ++i)
    if (axes[i].reduced) mask |= 1u << i;
  return mask;
}

int long_reduced_axes(const GroupAxes& axes) {
  return static_cast<int>(std::count_if(axes.begin(), axes.end(), [](const GroupAxis& axis) {
    return axis.reduced && axis.size > 1;
  }));
}

GroupAxes kept_axes(const GroupAxes& axes) {
  GroupAxes result;
  for (const GroupAxis& axis : axes)
    if (!axis.reduced) result.push_back(axis);
  return result;
}

std::string to_string(const GroupAxes& axes) {
  std::vector<std::int64_t> sizes;
  for (const GroupAxis& axis : axes) sizes.push_back(axis.size);
  return fmt::format("({})", fmt::join(sizes, ", "));
}

std::string axes_text(std::uint32_t mask) {
  std::string text;
  for (int i = 0; i < 32; ++i)
    if (mask >> i & 1) text += fmt::format("{}{}", text.empty() ? "" : ", ", i);
  return text;
}

GroupAxes space_of(const Node& node) {
  const bool reduces = is_reduction(node.op);
  const Shape& shape = reduces ? node.operands[0].view.shape : node.shape;
  GroupAxes axes;
  axes.reserve(static_cast<std::size_t>(shape.rank()));
  for (int i = 0; i < shape.rank(); ++i) {
    const bool is_padded =
        std::any_of(node.operands.begin(), node.operands.end(),
                    [&](const Operand& operand) { return operand.view.is_padded_along(i); });
    axes.push_back({shape[i], reduces && (node.axes >> i & 1) != 0, is_padded});
  }
  return axes;
}

NodeAxes axes_of(const Node& node) {
  const bool reduces = is_reduction(node.op);
  const int rank = reduces ? node.operands[0].view.shape.rank() : node.shape.rank();
  NodeAxes axes;
  axes.computed_over.reserve(static_cast<std::size_t>(rank));
  axes.result.reserve(static_cast<std::size_t>(rank));
  for (int i = 0; i < rank; ++i) {
    axes.computed_over.push_back(i);
    if (!reduces || !(node.axes >> i & 1)) axes.result.push_back(i);
  }
  return axes;
}

// Each axis of the view covers consecutive axes of the list.
ByAxis<std::int64_t> strides_along(const View& view, const AxisList& list, const GroupAxes& axes) {
  ByAxis<std::int64_t> strides(axes.size(), 0);
  std::size_t last = list.size();
  for (int i = view.shape.rank(); i-- > 0;) {
    std::int64_t size = 1;
    if (view.shape[i] == 1 && last > 0 && axes[list[last - 1]].size == 1)
      strides[list[--last]] = view.strides[i];
    while (size != view.shape[i]) {
      SINTER_ASSERT(last > 0, "a view of shape {} does not run along {}", to_string(view.shape),
                    to_string(axes));
      const AxisId axis = list[--last];
      strides[axis] = view.strides[i] * size;
      size *= axes[axis].size;
    }
  }
  return strides;
}

ByAxis<std::int64_t> dense_strides(const AxisList& list, const GroupAxes& axes) {
  ByAxis<std::int64_t> strides(axes.size(), 0);
  std::int64_t size = 1;
  for (auto it = list.rbegin(); it != list.rend(); ++it) {
    const GroupAxis& axis = axes[*it];
    strides[*it] = size;
    size *= axis.size;
  }
  return strides;
}

bool are_same_elements(const ByAxis<std::int64_t>& a, const ByAxis<std::int64_t>& b,
                       const GroupAxes& axes) {
  for (AxisId i = 0; i < axes.end_id(); ++i)
    if (axes[i].size != 1 && a[i] != b[i]) return false;
  return true;
}

AxisList mapped(const AxisList& list, const ByAxis<AxisList>& to_joint) {
  if (to_joint.empty()) return list;
  AxisList result;
  for (AxisId axis : list) {
    const AxisList& pieces = to_joint[axis];
    result.insert(result.end(), pieces.begin(), pieces.end());
  }
  return result;
}

bool is_identity(const ByAxis<AxisList>& to_joint) {
  for (AxisId i = 0; i < to_joint.end_id(); ++i)
    if (to_joint[i].size() != 1 || to_joint[i][0] != i) return false;
  return true;
}

namespace {

constexpr std::size_t kMostAxes = 16;

// Returns `to` with the `whole` flags of `from` added.
GroupAxes joined(GroupAxes to, const GroupAxes& from, const ByAxis<AxisList>& lists) {
  for (AxisId i = 0; i < from.end_id(); ++i)
    if (from[i].whole)
      for (AxisId axis : mapped({i}, lists)) to[axis].whole = true;
  return to;
}

bool same_sizes(const GroupAxes& a, const GroupAxes& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const GroupAxis& x, const GroupAxis& y) { return x.size == y.size; });
}

// Whether a reduced axis remains after Refinement drops axes of size 1.
bool has_long_rows(const GroupAxes& axes) { return numel(axes) > 0 && long_reduced_axes(axes) > 0; }

// Splits the axes of both groups, outermost first, until every axis of b is an axis of a. With
// `kept_only`, b is matched with the kept axes of a only.
class Refinement {
 public:
  Refinement(const GroupAxes& a, const GroupAxes& b, bool kept_only)
      : a_(a), b_(b), kept_only_(kept_only) {
    joint_.from_a.resize(a.size());
    joint_.from_b.resize(b.size());
  }

  std::optional<JointSpace> run() {
    for (AxisId i = 0; i < a_.end_id(); ++i) {
      std::int64_t left = a_[i].size;
      const bool is_shared = left != 1 && !(kept_only_ && a_[i].reduced);
      if (!is_shared) add(i, left);
      while (is_shared && left != 1)
        if (!take_piece(i, left)) return std::nullopt;
    }
    skip_ones();
    if (b_.contains(next_) || joint_.axes.size() > kMostAxes) return std::nullopt;
    return std::move(joint_);
  }

 private:
  // Appends a piece of a's axis i to the joint axes.
  AxisId add(AxisId i, std::int64_t size) {
    const AxisId axis = joint_.axes.push_back({size, a_[i].reduced, a_[i].whole});
    joint_.from_a[i].push_back(axis);
    return axis;
  }

  // Drops axes of b of size 1, and starts the next longer one.
  void skip_ones() {
    while (rest_ == 1 && b_.contains(next_)) {
      if (b_[next_].size != 1) {
        rest_ = b_[next_].size;
        return;
      }
      ++next_;
    }
  }

  // Takes the outermost common piece of the remainders of both axes.
  bool take_piece(AxisId i, std::int64_t& left) {
    skip_ones();
    if (!b_.contains(next_)) return false;
    const std::int64_t size = std::min(left, rest_);
    if (left % size != 0 || rest_ % size != 0) return false;
    const GroupAxis& other = b_[next_];
    if ((a_[i].whole && size != a_[i].size) || (other.whole && size != other.size)) return false;
    if (reduces_ && a_[i].reduced != b_[next_].reduced) return false;
    joint_.from_b[next_].push_back(add(i, size));
    joint_.axes.back().whole |= other.whole;
    left /= size;
    rest_ /= size;
    if (rest_ == 1) ++next_;
    return true;
  }

  const GroupAxes& a_;
  const GroupAxes& b_;
  const bool kept_only_;
  const bool reduces_ = reduced_mask(b_) != 0;  // if b reduces, a does too
  JointSpace joint_;
  AxisId next_ = 0;        // current axis of b
  std::int64_t rest_ = 1;  // its remaining size
};

// a's space, for b of the same sizes.
JointSpace same_axes(const GroupAxes& a, const GroupAxes& b) { return {joined(a, b, {}), {}, {}}; }

// The joint space of a and b, where b does not reduce.
std::optional<JointSpace> inside(const GroupAxes& a, const GroupAxes& b, SplitAxes split) {
  const bool reduces = reduced_mask(a) != 0;
  if (same_sizes(a, b)) return same_axes(a, b);
  if (reduces && same_sizes(kept_axes(a), b)) {
    JointSpace joint{a, {}, {}};
    for (AxisId i = 0; i < a.end_id(); ++i)
      if (!a[i].reduced) joint.from_b.push_back({i});
    joint.axes = joined(a, b, joint.from_b);
    return joint;
  }
  const std::int64_t elements = numel(b);
  if (elements == 0 || split == SplitAxes::no) return std::nullopt;
  if (elements == numel(a)) return Refinement(a, b, false).run();
  if (reduces && elements == numel(kept_axes(a))) return Refinement(a, b, true).run();
  return std::nullopt;
}

// Why two groups have no joint space.
std::string why_apart(const GroupAxes& a, const GroupAxes& b) {
  const std::uint32_t over_a = reduced_mask(a);
  const std::uint32_t over_b = reduced_mask(b);
  if (!over_a || !over_b)
    return fmt::format("they walk different shapes: {} and {}", to_string(a), to_string(b));
  if (same_sizes(a, b))
    return fmt::format("one reduces over axes {}, the other over axes {}", axes_text(over_a),
                       axes_text(over_b));
  return fmt::format("they reduce over different shapes: {} and {}", to_string(a), to_string(b));
}

}  // namespace

SpaceVerdict join_spaces(const GroupAxes& a, const GroupAxes& b, SplitAxes split, Reason reason) {
  const std::uint32_t over_a = reduced_mask(a);
  const std::uint32_t over_b = reduced_mask(b);
  if (over_a == over_b && same_sizes(a, b)) return {same_axes(a, b), {}};
  if (over_a && over_b) {
    if (split == SplitAxes::yes && !same_sizes(a, b) && numel(a) == numel(b) && has_long_rows(a) &&
        has_long_rows(b))
      if (auto joint = Refinement(a, b, false).run()) return {std::move(joint), {}};
  } else if (over_b) {
    if (auto joint = inside(b, a, split)) {
      std::swap(joint->from_a, joint->from_b);
      return {std::move(joint), {}};
    }
  } else if (auto joint = inside(a, b, split)) {
    return {std::move(joint), {}};
  }
  return {{}, reason == Reason::wanted ? why_apart(a, b) : std::string()};
}

}  // namespace sinter
