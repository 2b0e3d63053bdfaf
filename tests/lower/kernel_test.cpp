// A kernel's arguments: printed, and checked against what its body takes.
#include "src/lower/kernel.h"

#include <gtest/gtest.h>
#include <sinter/error.h>

#include "src/lower/family.h"
#include "tests/support/graph_maker.h"

namespace sinter {
namespace {

using testing_support::GraphMaker;

Kernel doubled_rows(const FusionOptions& options = {}) {
  GraphMaker maker;
  const Operand x = maker.input({300, 70});
  maker.output(maker.op(Op::mul, {x, maker.build.number_like(x, 2.5)}));
  const Plan plan = make_plan(maker.graph, options);
  const IterationSpace space = iteration_space(plan, 0);
  return lower(plan, 0, space, choose_config(space, {}));
}

TEST(KernelTest, PrintsItsConfigAndArguments) {
  const std::string text = to_string(doubled_rows());
  for (const char* part : {"kernel mul: pointwise (", "in in0 = %0\n", "out out0 = %2\n",
                           "i64 n0 = 21000\n", "f64 c0 = 2.5\n"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
}

// Whoever lowers a group of the plan, also the tuner, gets kernels with the plan's rounding.
TEST(KernelTest, SeparateOpsFollowFromThePlan) {
  FusionOptions options;
  EXPECT_FALSE(doubled_rows(options).program().separate_ops);
  options.separate_ops = true;
  EXPECT_TRUE(doubled_rows(options).program().separate_ops);
}

TEST(KernelTest, WithOtherArgumentsThanItsBodyTakesIsRefused) {
  const Kernel good = doubled_rows();
  EXPECT_NO_THROW(verify(good));
  const auto expect_refused = [&](const auto& change) {
    Kernel kernel = good;
    change(kernel);
    EXPECT_THROW(verify(kernel), InternalError);
  };
  expect_refused([](Kernel& kernel) { kernel.buffers.pop_back(); });
  expect_refused([](Kernel& kernel) { kernel.buffers[0].written = true; });
  expect_refused([](Kernel& kernel) { kernel.scalars.pop_back(); });
  expect_refused([](Kernel& kernel) { kernel.scalars.front() = KernelScalar::of(1.0); });
  expect_refused([](Kernel& kernel) { kernel.grid = -1; });
}

}  // namespace
}  // namespace sinter
