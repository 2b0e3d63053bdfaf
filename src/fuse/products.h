// Contractions in a plan: which of them are plain sums, and which run in a library. In: a Graph, a
// contraction. Out: a Graph, a matrix product's sizes and strides.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/fuse/group_space.h"
#include "src/fuse/plan.h"

namespace sinter {

// Whether both operands are read several times: each is repeated along an axis of the result. If
// not, the contraction is as much work as reading the larger operand.
bool reuses_operands(const Node& contraction);

// Contractions that reuse nothing, as products and their sums, which fuse with what they read.
Graph products_as_sums(const Graph& graph);

// An operand or the result of a matrix product: strides along its two axes and from one product of
// a batch to the next.
struct MatrixStrides {
  std::int64_t row = 0;  // of the result's rows; for b, of the summed axis
  std::int64_t col = 0;  // of the result's columns; for a, of the summed axis
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
  std::string refusal;  // not empty: it is none, or libraries do not take its strides
};

// By the strides of both operands and the result along the axes.
struct ContractionStrides {
  std::span<const std::int64_t> a;
  std::span<const std::int64_t> b;
  std::span<const std::int64_t> c;
};
MatrixProduct matrix_product(const GroupAxes& axes, const ContractionStrides& strides);

// Whether so many multiplications take longer than a kernel more for what follows them.
bool is_worth_a_library(std::int64_t multiplications);
// Whether some contraction is, so that a device should load its library.
bool has_work_for_a_library(const Graph& graph);
// Whether the planner leaves a node to the library: its matrix units gain more than a fused
// epilogue would.
bool runs_in_library(const Graph& graph, const Node& node, const FusionOptions& options);

}  // namespace sinter
