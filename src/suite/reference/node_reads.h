// NodeReads: which elements of its operands an element of a node depends on. In: a graph's node and
// the row-major position of an element. Out: elements of other nodes, in the order of the operands.
#pragma once

#include <cstdint>
#include <vector>

#include "src/graph/graph.h"

namespace sinter::suite {

// Buffer index of the element at a row-major position of the view's shape.
inline std::int64_t offset_at(const View& view, std::int64_t position) {
  std::int64_t offset = view.offset;
  for (int axis = view.shape.rank() - 1; axis >= 0; --axis) {
    offset += position % view.shape[axis] * view.strides[axis];
    position /= view.shape[axis];
  }
  return offset;
}

// Used in place of a position: the operand's view shows its fill there.
inline constexpr std::int64_t kFillPosition = -1;

// Whether the element at a row-major position of the view's shape is in its window.
inline bool is_in_window(const View& view, std::int64_t position) {
  if (!view.is_padded()) return true;
  for (int axis = view.shape.rank() - 1; axis >= 0; --axis) {
    const std::int64_t index = position % view.shape[axis];
    if (index < view.window->first[axis] || index >= view.window->last[axis]) return false;
    position /= view.shape[axis];
  }
  return true;
}

class NodeReads {
 public:
  explicit NodeReads(const Node& node);

  // Elements read by one element of the node.
  std::int64_t count() const { return count_; }

  // visit(operand, position in its node, or kFillPosition); a reduction's elements in their order.
  template <typename Visit>
  void for_each(std::int64_t position, const Visit& visit) const {
    if (node_.op == Op::concat) return visit_part(position, visit);
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      // Only pointwise nodes read padded views: they have the shape of the view.
      if (!is_in_window(node_.operands[i].view, position)) {
        visit(node_.operands[i], kFillPosition);
        continue;
      }
      const std::int64_t first = offset_at(kept_[i], position);
      const std::int64_t reduced = count_ / std::ssize(kept_);
      for (std::int64_t k = 0; k < reduced; ++k)
        visit(node_.operands[i], first + (reduced == 1 ? 0 : offset_at(reduced_[i], k)));
    }
  }

 private:
  template <typename Visit>
  void visit_part(std::int64_t position, const Visit& visit) const {
    const std::int64_t row = position / inner_ / axis_size_;
    std::int64_t along = position / inner_ % axis_size_;
    for (const Operand& part : node_.operands) {
      const std::int64_t size = part.view.shape[static_cast<int>(node_.axes)];
      if (along < size) {
        const std::int64_t within = (row * size + along) * inner_ + position % inner_;
        visit(part, offset_at(part.view, within));
        return;
      }
      along -= size;
    }
  }

  const Node& node_;
  std::int64_t count_ = 0;
  // Per operand: the axes that the node keeps, and those that it reduces.
  std::vector<View> kept_;
  std::vector<View> reduced_;
  // For a concat: its size along the axis, and the elements per step along it.
  std::int64_t axis_size_ = 1;
  std::int64_t inner_ = 1;
};

}  // namespace sinter::suite
