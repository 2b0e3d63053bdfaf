// The programs are written with basic operations, as a user would without softmax().
#include "tests/support/online_programs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "src/graph/simplify.h"
#include "tests/support/graph_maker.h"

namespace sinter::testing_support {
namespace {

constexpr std::int64_t kKindsOfRows = 11;

// A GraphMaker that knows the axis reduced over.
struct RowMaker : GraphMaker {
  Shape shape;
  int axis;

  RowMaker(std::int64_t rows, std::int64_t cols, int along)
      : shape(along == 1 ? Shape{rows, cols} : Shape{cols, rows}), axis(along) {}
  Operand rows(ReduceKind kind, const Operand& x) { return reduce(kind, x, {axis}); }
  Operand spread(const Operand& row) const {
    return axis == 1 ? along_rows(row, shape[1]) : expanded(row, shape);
  }
  Operand below(const Operand& x, const Operand& top) { return op(Op::sub, {x, spread(top)}); }
  Operand softmax(const Operand& x) {
    const Operand power = op(Op::exp, {below(x, rows(ReduceKind::max, x))});
    return op(Op::div, {power, spread(rows(ReduceKind::sum, power))});
  }
};

double hard_value(std::int64_t row, std::int64_t col, std::int64_t cols) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double wave = 3 * std::sin(static_cast<double>(row * 37 + col * 11));
  switch (row % kKindsOfRows) {
    case 0:
      return wave;
    case 1:
      return col < cols / 2 ? -infinity : wave;
    case 2:
      return -infinity;
    case 3:
      return col == cols / 3 ? infinity : wave;
    case 4:
      return col == cols - 1 ? std::nan("") : wave;
    case 5:
      return infinity;
    case 6:
      return static_cast<double>(col % 1000) / 4;  // the maximum grows often
    case 7:
      return -static_cast<double>(col % 1000) / 4;
    case 8:
      return col % 3 == 0 ? -infinity : wave;
    case 9:
      return static_cast<double>(std::numeric_limits<float>::lowest());
    default:
      return col % 2 == 0 ? 60000 : -60000;
  }
}

}  // namespace

std::vector<OnlineProgram> online_programs(std::int64_t rows, std::int64_t cols, DType dtype,
                                           int axis) {
  std::vector<OnlineProgram> programs;
  const auto add = [&](const char* name, int passes, int plain_passes, const auto& write) {
    RowMaker maker(rows, cols, axis);
    write(maker, maker.input(maker.shape, dtype));
    programs.push_back({name, std::move(maker.graph), passes, plain_passes});
  };
  add("softmax", 2, 3, [](RowMaker& maker, const Operand& x) { maker.output(maker.softmax(x)); });
  add("double_softmax", 3, 5,
      [](RowMaker& maker, const Operand& x) { maker.output(maker.softmax(maker.softmax(x))); });
  add("max_and_sum_have_other_users", 2, 3, [](RowMaker& maker, const Operand& x) {
    const Operand half =
        maker.op(Op::mul, {x, maker.number(0.5, maker.shape, maker.graph[x.node].dtype)});
    const Operand top = maker.rows(ReduceKind::max, half);
    const Operand power = maker.op(Op::exp, {maker.below(half, top)});
    const Operand total = maker.rows(ReduceKind::sum, power);
    for (const Operand& result : {top, total, maker.rows(ReduceKind::min, x)}) maker.output(result);
    maker.output(maker.op(Op::mul, {power, maker.spread(total)}));
  });
  add("cross_entropy", 1, 2, [](RowMaker& maker, const Operand& x) {
    const Operand top = maker.rows(ReduceKind::max, x);
    const Operand power = maker.op(Op::exp, {maker.below(x, top)});
    const Operand size = maker.op(Op::log, {maker.rows(ReduceKind::sum, power)});
    maker.output(maker.op(Op::add, {size, top}));
    maker.output(maker.rows(ReduceKind::sum, maker.op(Op::sigmoid, {x})));
  });
  return programs;
}

Config looping_config(const IterationSpace& space, bool online) {
  const int inner = space.reduced_axes().back();
  const bool columns = inner + 1 < static_cast<int>(space.axes.size());
  Tiling tiling;
  tiling.col_axis = columns ? inner + 1 : inner;
  tiling.tile_cols = 32;
  tiling.mapping.threads = tiling.mapping.threads_per_row = 32;
  if (columns) return ColumnConfig{tiling, online};
  return ChunkedConfig{tiling, online};
}

Numbers hard_rows(std::int64_t rows, std::int64_t cols, DType dtype, int axis) {
  Numbers values(static_cast<std::size_t>(rows * cols));
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t col = 0; col < cols; ++col)
      values[static_cast<std::size_t>(axis == 1 ? row * cols + col : col * rows + row)] =
          Scalar::of(hard_value(row, col, cols)).as(dtype).real;
  return values;
}

void expect_online_right(DType dtype, int axis, const KernelRunner& run) {
  const double bound = dtype == DType::bf16 ? 1e-2 : dtype == DType::f16 ? 1e-3 : 1e-5;
  for (std::int64_t cols : {2, 7, 32, 101, 17000}) {
    // Of the long rows, only those in which the sum is often rescaled.
    const std::int64_t rows = axis == 1 && cols > 1000 ? 7 : kKindsOfRows;
    if (axis == 0 && cols > 1000) continue;
    const Numbers values = hard_rows(rows, cols, dtype, axis);
    for (const OnlineProgram& program : online_programs(rows, cols, dtype, axis)) {
      const Plan plan = make_plan(simplify(program.graph), {});
      ASSERT_EQ(plan.groups.size(), 1u) << program.name << "\n" << to_string(plan);
      const auto actual = run_plan(
          plan, {values}, [](const IterationSpace& space) { return looping_config(space, true); },
          run);
      expect_close(actual, evaluate(program.graph, {values}), bound,
                   program.name + " of " + std::to_string(cols) + " columns");
      if (testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace sinter::testing_support
