// What the GPU heuristic decides for a graph of one kernel, and graphs to ask it about.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "src/lower/family.h"
#include "tests/support/graph_maker.h"

namespace sinter::testing_support {

inline const Machine kHopper{.kind = MachineKind::gpu,
                             .cache_bytes = 50 << 20,
                             .multiprocessors = 132,
                             .largest_cluster = 8,
                             .shared_bytes_per_multiprocessor = 228 << 10};

struct Decision {
  IterationSpace space;
  Config config;

  const Tiling& tiling() const { return tiling_of(config); }
  std::string_view family() const { return family_of(config).name; }
  const tile::Mapping& mapping() const { return tiling().mapping; }
  std::int64_t size(int axis) const { return space.axes[axis].size; }
  // Rows per thread.
  std::int64_t rows_each() const {
    return tiling().tile_rows * mapping().threads_per_row / mapping().threads;
  }
};

inline Decision decide(const Graph& graph, const Machine& machine = kHopper) {
  FusionOptions options;
  options.rows_on_chip = true;
  const Plan plan = make_plan(graph, options);
  EXPECT_EQ(plan.groups.size(), 1u) << to_string(plan);
  Decision decision{iteration_space(plan, 0), {}};
  decision.config = choose_config(decision.space, machine);
  return decision;
}

inline Graph softmax_of(GraphMaker maker, const Operand& x) {
  const std::int64_t columns = x.view.shape[1];
  const Operand top = maker.reduce(ReduceKind::max, x, {1});
  const Operand power = maker.op(Op::exp, {maker.op(Op::sub, {x, along_rows(top, columns)})});
  const Operand total = maker.reduce(ReduceKind::sum, power, {1});
  maker.output(maker.op(Op::div, {power, along_rows(total, columns)}));
  return maker.graph;
}

inline Graph softmax(const Shape& shape, DType dtype = DType::f32) {
  GraphMaker maker;
  const Operand x = maker.input(shape, dtype);
  return softmax_of(std::move(maker), x);
}

inline Graph reduction(const Shape& shape, int axis, DType dtype = DType::f32) {
  GraphMaker maker;
  maker.output(maker.reduce(ReduceKind::sum, maker.input(shape, dtype), {axis}));
  return maker.graph;
}

// Elements that do not depend on the sum computed in the same kernel.
inline Graph sum_beside_cosine(const Shape& shape, DType dtype = DType::f32) {
  GraphMaker maker;
  const Operand x = maker.input(shape, dtype);
  maker.output(maker.reduce(ReduceKind::sum, x, {1}));
  maker.output(maker.op(Op::cos, {x}));
  return maker.graph;
}

// Layernorm's last step: all rows share an operand.
inline Graph centred_and_scaled(const Shape& shape, DType dtype = DType::f32) {
  GraphMaker maker;
  const Operand x = maker.input(shape, dtype);
  const Operand mean = maker.reduce(ReduceKind::sum, x, {1});
  const Operand centred = maker.op(Op::sub, {x, along_rows(mean, shape[1])});
  maker.output(maker.op(Op::mul, {centred, expanded(maker.input({shape[1]}, dtype), shape)}));
  return maker.graph;
}

}  // namespace sinter::testing_support
