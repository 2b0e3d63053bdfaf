// Classifies axes by the operands that have a stride along them: both (batches), only the first
// (rows), only the second (columns); reduced axes are summed.
#include "src/fuse/products.h"

#include <algorithm>
#include <limits>

#include "src/base/check.h"
#include "src/graph/rewriter.h"

namespace sinter {
namespace {

// An axis, or several that are contiguous in all three tensors and merged into one.
struct Merged {
  std::int64_t size = 1;
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t c = 0;
};

// Merges `inner` into `outer` if all strides allow.
bool merge_into(Merged& outer, const Merged& inner) {
  const bool fits = outer.a == inner.a * inner.size && outer.b == inner.b * inner.size &&
                    outer.c == inner.c * inner.size;
  if (fits) outer = {outer.size * inner.size, inner.a, inner.b, inner.c};
  return fits;
}

// Appends an inner axis, merging it with the last one if possible.
void append(std::vector<Merged>& list, const Merged& axis) {
  if (list.empty() || !merge_into(list.back(), axis)) list.push_back(axis);
}

// Returns the innermost axis of a list and moves the others to the batches.
Merged take_innermost(std::vector<Merged>& list, std::vector<Merged>& batches) {
  if (list.empty()) return {};
  const Merged innermost = list.back();
  list.pop_back();
  batches.insert(batches.end(), list.begin(), list.end());
  return innermost;
}

// Whether a matrix is row-major or column-major: one stride is 1, the other is a valid leading
// dimension.
bool is_stored_by_lines(std::int64_t rows, std::int64_t row, std::int64_t cols, std::int64_t col) {
  const bool by_rows = (cols == 1 || col == 1) && (rows == 1 || row >= cols);
  const bool by_cols = (rows == 1 || row == 1) && (cols == 1 || col >= rows);
  return by_rows || by_cols;
}

std::string refusal_of(const MatrixProduct& product) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  for (std::int64_t size : {product.m, product.n, product.k, product.batch}) {
    if (size == 0) return "it is empty";
    if (size > kMost) return fmt::format("libraries take sizes up to {}", kMost);
  }
  if (!is_stored_by_lines(product.m, product.a.row, product.k, product.a.col))
    return "the first operand is contiguous neither along its rows nor along its columns";
  if (!is_stored_by_lines(product.k, product.b.row, product.n, product.b.col))
    return "the second operand is contiguous neither along its rows nor along its columns";
  if ((product.n != 1 && product.c.col != 1) || (product.m != 1 && product.c.row < product.n))
    return "the result is not stored by rows";
  if (product.a.batch < 0 || product.b.batch < 0) return "its batches are reversed";
  return "";
}

}  // namespace

bool reuses_operands(const Node& contraction) {
  const View& a = contraction.operands[0].view;
  const View& b = contraction.operands[1].view;
  bool repeats_a = false;
  bool repeats_b = false;
  for (int i = 0; i < a.shape.rank(); ++i) {
    if ((contraction.axes >> i & 1) != 0 || a.shape[i] == 1) continue;
    repeats_a |= a.strides[i] == 0 && b.strides[i] != 0;
    repeats_b |= b.strides[i] == 0 && a.strides[i] != 0;
  }
  return repeats_a && repeats_b;
}

Graph products_as_sums(Graph graph) {
  const bool has_such = std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
    return node.op == Op::contract && !reuses_operands(node);
  });
  if (!has_such) return graph;
  return rewritten(graph, [&](GraphRewriter& rewriter, NodeId id) -> std::optional<Operand> {
    if (graph[id].op != Op::contract || reuses_operands(graph[id])) return std::nullopt;
    GraphBuilder& build = rewriter.build();
    const Node node = rewriter.moved_node(id);
    const DType dtype = compute_dtype(node.dtype);
    const Operand product = build.pointwise(
        Op::mul, {build.cast(node.operands[0], dtype), build.cast(node.operands[1], dtype)});
    return build.cast(build.reduce(ReduceKind::sum, product, node.axes), node.dtype);
  });
}

MatrixProduct matrix_product(const GroupAxes& axes, const ContractionStrides& strides) {
  std::vector<Merged> batches;
  std::vector<Merged> rows;
  std::vector<Merged> columns;
  std::vector<Merged> summed;
  for (AxisId i = 0; i < axes.end_id(); ++i) {
    if (axes[i].size == 1) continue;
    const Merged axis{axes[i].size, strides.a[i], strides.b[i], strides.c[i]};
    const bool by_row = axis.b == 0 && axis.a != 0;
    const bool by_column = axis.a == 0 && axis.b != 0;
    append(axes[i].reduced ? summed : by_row ? rows : by_column ? columns : batches, axis);
  }
  MatrixProduct product;
  const Merged row = take_innermost(rows, batches);
  const Merged column = take_innermost(columns, batches);
  std::sort(batches.begin(), batches.end(),
            [](const Merged& x, const Merged& y) { return x.c > y.c; });
  std::vector<Merged> batch;
  for (const Merged& each : batches) append(batch, each);
  if (summed.size() > 1) product.refusal = "it sums over axes that are not neighbours";
  if (batch.size() > 1) product.refusal = "its batches have no common stride";
  if (!product.refusal.empty()) return product;
  const Merged along = summed.empty() ? Merged{} : summed[0];
  const Merged step = batch.empty() ? Merged{} : batch[0];
  product.m = row.size;
  product.n = column.size;
  product.k = along.size;
  product.batch = step.size;
  product.a = {row.a, along.a, step.a};
  product.b = {along.b, column.b, step.b};
  product.c = {row.c, column.c, step.c};
  product.refusal = refusal_of(product);
  return product;
}

bool is_worth_a_library(std::int64_t multiplications) { return multiplications >= 1 << 24; }

bool has_work_for_a_library(const Graph& graph) {
  for (NodeId id = 0; id < graph.size(); ++id)
    if (const Node& node = graph[id];
        node.op == Op::contract && is_worth_a_library(node.operands[0].view.shape.numel()))
      return true;
  return false;
}

MatrixProduct matrix_product(const Node& contraction, const View& result) {
  const GroupAxes axes = space_of(contraction);
  const NodeAxes node_axes = axes_of(contraction);
  const auto strides = [&](std::size_t operand) {
    return strides_along(contraction.operands[operand].view, node_axes.computed_over, axes);
  };
  return matrix_product(axes,
                        {strides(0), strides(1), strides_along(result, node_axes.result, axes)});
}

}  // namespace sinter
