// Splits each operand's view into kept and reduced axes.
#include "src/suite/reference/node_reads.h"

namespace sinter::suite {

NodeReads::NodeReads(const Node& node) : node_(node) {
  if (node.op == Op::concat) {
    const int axis = static_cast<int>(node.axes);
    axis_size_ = node.shape[axis];
    for (int i = axis + 1; i < node.shape.rank(); ++i) inner_ *= node.shape[i];
    count_ = 1;
    return;
  }
  const std::uint32_t axes = is_reduction(node.op) ? node.axes : 0;
  for (const Operand& operand : node.operands) {
    View kept{{}, {}, operand.view.offset};
    View reduced;
    for (int i = 0; i < operand.view.shape.rank(); ++i) {
      View& part = (axes >> i & 1) ? reduced : kept;
      part.shape.push_back(operand.view.shape[i]);
      part.strides.push_back(operand.view.strides[i]);
    }
    count_ += reduced.shape.numel();
    kept_.push_back(kept);
    reduced_.push_back(reduced);
  }
}

}  // namespace sinter::suite
