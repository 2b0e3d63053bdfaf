// Contractions in a plan: which become plain sums, and which are matrix products that libraries
// accept. In: a Graph, a contraction. Out: a Graph, a matrix product's sizes and strides.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/fuse/group_space.h"
#include "src/fuse/plan.h"

namespace sinter {

// Whether both operands are reused, that is, broadcast along an axis of the result. If not, the
// contraction costs no more than reading the larger operand.
bool reuses_operands(const Node& contraction);

// Rewrites contractions without operand reuse as a multiply and a sum, which fuse with their
// producers.
Graph products_as_sums(Graph graph);

// Strides of an operand or the result of a matrix product: along its two axes, and between the
// matrices of a batch.
struct MatrixStrides {
  std::int64_t row = 0;  // along m; for b, along k
  std::int64_t col = 0;  // along n; for a, along k
  std::int64_t batch = 0;
};

// A contraction as a batch of products of matrices (m, k) and (k, n).
struct MatrixProduct {
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  std::int64_t batch = 1;
  MatrixStrides a;
  MatrixStrides b;
  MatrixStrides c;
  std::string refusal;  // why libraries cannot compute it; empty if they can
};

// Strides of both operands and the result along the group's axes.
struct ContractionStrides {
  ByAxis<std::int64_t> a;
  ByAxis<std::int64_t> b;
  ByAxis<std::int64_t> c;
};
MatrixProduct matrix_product(const GroupAxes& axes, const ContractionStrides& strides);
// The product of a contraction with a result of layout `result`.
MatrixProduct matrix_product(const Node& contraction, const View& result);

// Whether that many multiplications outweigh an extra kernel launch for the unfused epilogue.
bool is_worth_a_library(std::int64_t multiplications);
// Whether the graph has a contraction that large, so that the device should load its library.
bool has_work_for_a_library(const Graph& graph);

}  // namespace sinter
