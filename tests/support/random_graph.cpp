// Every value can be viewed as (4, 6), whatever its shape, so any two can be operands of one node.
#include "tests/support/random_graph.h"

#include <random>
#include <vector>

#include "tests/support/graph_maker.h"

namespace sinter::testing_support {

Graph random_graph(unsigned seed) {
  std::mt19937 random(seed);
  auto pick = [&](int low, int high) { return std::uniform_int_distribution(low, high)(random); };
  GraphMaker maker;
  std::vector<Operand> values{maker.input({4, 6}), maker.input({4, 6}), maker.input({6})};
  values.push_back(maker.input_view({{4, 6}, {1, 4}, 0}));  // stored transposed
  auto any = [&] { return values[static_cast<std::size_t>(pick(0, int(values.size()) - 1))]; };
  // Any value viewed as (4, 6).
  auto full = [&]() -> Operand {
    Operand value = any();
    const Shape& shape = value.view.shape;
    if (shape == Shape({6, 4})) value = transposed(value);
    if (shape == Shape({8, 6})) value = sliced(value, 0, pick(0, 1), 4, pick(1, 2));
    if (shape == Shape({24})) value = seen(value, *reshape(value.view, {4, 6}));
    if (shape == Shape({4})) value = along_rows(value, 6);
    if (shape == Shape({4, 1})) value = expanded(value, {4, 6});
    if (shape == Shape({6}) || shape.rank() == 0) value = expanded(value, {4, 6});
    return value;
  };
  for (int step = 0; step < 12; ++step) {
    Operand next;
    switch (pick(0, 9)) {
      case 0:
        next = maker.op(Op::add, {full(), full()});
        break;
      case 1:
        next = maker.op(Op::mul, {full(), maker.number(pick(0, 2), {4, 6})});
        break;
      case 2:
        next = maker.op(Op::cos, {full()});
        break;
      case 3:
        next = maker.reduce(ReduceKind::sum, full(), {1});
        break;
      case 4:
        next = maker.reduce(ReduceKind::max, full(), {0});
        break;
      case 5:
        next = maker.op(Op::sin, {transposed(full())});
        break;
      case 6:
        next = maker.concat({full(), full()}, 0);
        break;
      case 7: {
        const Operand value = maker.op(Op::neg, {full()});
        const auto flat = reshape(value.view, {24});
        next = maker.op(Op::abs, {seen(value, *flat)});
        break;
      }
      case 8: {  // kept as a column
        const Operand rows = maker.reduce(ReduceKind::sum, full(), {1});
        next = maker.op(Op::tanh, {seen(rows, insert_axis(rows.view, 1))});
        break;
      }
      default:
        next = maker.cast(maker.op(Op::sub, {full(), full()}), DType::f32);
    }
    values.push_back(next);
  }
  for (int i = 0; i < 3; ++i) {
    Operand value = any();
    if (value.view.shape.rank() == 2 && pick(0, 1)) value = transposed(value);
    maker.output(value);
  }
  return maker.graph;
}

}  // namespace sinter::testing_support
