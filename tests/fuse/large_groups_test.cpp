// Programs with far more operations than one kernel may have: the planner splits them into few
// kernels within its limits, and says which limit it was.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "src/fuse/plan.h"
#include "src/graph/simplify.h"
#include "tests/support/trace_graph.h"

namespace sinter {
namespace {

using testing_support::InputSpec;
using testing_support::trace_graph;
using Tensors = std::vector<Tensor>;

// The options of a device, and how many kernels its limits make of each program.
struct Target {
  const char* name;
  FusionOptions options;
};

void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

Target cpu() { return {"cpu", fusion_options(true, 8, Machine{})}; }
Target gpu() {
  const Machine machine{.kind = MachineKind::gpu, .multiprocessors = 132, .largest_cluster = 8};
  return {"gpu", fusion_options(true, 132, machine)};
}

// Reads and writes of a kernel: distinct views of tensors from outside, and results.
int accesses_of(const Plan& plan, const FusionGroup& group) {
  std::set<std::string> reads;
  for (NodeId id : group.nodes)
    for (const Operand& operand : plan.graph[id].operands)
      if (!std::binary_search(group.nodes.begin(), group.nodes.end(), operand.node) &&
          !is_scalar(plan.graph[operand.node].op))
        reads.insert(std::to_string(operand.node) + to_string(operand.view));
  return static_cast<int>(reads.size() + group.outputs.size());
}

// The most reductions that no other reduction separates: they are accumulated in one pass.
int reductions_of(const Plan& plan, const FusionGroup& group) {
  std::map<NodeId, int> rounds;
  std::map<int, int> count;
  for (NodeId id = 0; id < plan.graph.size(); ++id) {
    for (const Operand& operand : plan.graph[id].operands)
      rounds[id] = std::max(rounds[id], rounds[operand.node]);
    if (!is_reduction(plan.graph[id].op)) continue;
    ++rounds[id];
    if (std::binary_search(group.nodes.begin(), group.nodes.end(), id)) ++count[rounds[id]];
  }
  int most = 0;
  for (const auto& [round, reductions] : count) most = std::max(most, reductions);
  return most;
}

class LargeGroups : public testing::TestWithParam<Target> {
 protected:
  const FusionOptions& options() const { return GetParam().options; }
  bool on_gpu() const { return options().rows_on_chip; }

  // Within the limits of every kernel.
  Plan plan_of(const Graph& graph) const {
    Plan plan = make_plan(simplify(graph), options());
    verify(plan);
    for (const FusionGroup& group : plan.groups) {
      EXPECT_LE(static_cast<int>(group.nodes.size()), options().most_nodes);
      EXPECT_LE(reductions_of(plan, group), options().most_reductions);
      EXPECT_LE(accesses_of(plan, group), options().most_accesses);
    }
    return plan;
  }
};

// Every edge between two kernels names this limit.
void expect_reason(const Plan& plan, const std::string& reason) {
  EXPECT_FALSE(plan.unfused.empty());
  for (const UnfusedEdge& edge : plan.unfused) EXPECT_EQ(edge.reason, reason);
}

Tensors row_sums(const Tensor& x, int count) {
  Tensors sums;
  for (int i = 0; i < count; ++i) sums.push_back(sum(x * (1.0 + i), 1));
  return sums;
}

TEST_P(LargeGroups, AKernelHasSixteenReductionsInAPass) {
  const Graph graph =
      trace_graph({{{64, 64}}}, [](const Tensors& in) { return row_sums(in[0], 200); });
  const Plan plan = plan_of(graph);
  EXPECT_EQ(plan.groups.size(), 13u) << "200 sums, 16 to a kernel";
  std::size_t full = 0;
  for (const FusionGroup& group : plan.groups) full += group.outputs.size() == 16;
  EXPECT_EQ(full, 12u) << "all but the last";
}

TEST_P(LargeGroups, TheReasonIsTheReductionsInAPass) {
  const Graph graph = trace_graph(
      {{{64, 64}}}, [](const Tensors& in) { return Tensors{stack(row_sums(in[0], 200), 1)}; });
  const Plan plan = plan_of(graph);
  EXPECT_EQ(plan.groups.size(), 13u);
  expect_reason(plan, "one kernel would have more than 16 reductions in one pass");
}

Graph exponentials(int count, const Shape& shape) {
  const std::vector<InputSpec> inputs(static_cast<std::size_t>(count), shape);
  return trace_graph(inputs, [](const Tensors& in) {
    Tensors results;
    for (const Tensor& x : in) results.push_back(exp(x));
    return results;
  });
}

TEST_P(LargeGroups, UnrelatedOperationsStayApart) {
  EXPECT_EQ(plan_of(exponentials(500, {256, 256})).groups.size(), 500u)
      << "sharing a kernel would save no memory traffic";
}

TEST_P(LargeGroups, SmallUnrelatedOperationsShareFewLaunches) {
  const Plan plan = plan_of(exponentials(500, {64, 64}));
  EXPECT_LE(plan.groups.size(), 8u);
  for (const FusionGroup& group : plan.groups) EXPECT_LE(group.nodes.size(), 256u);
}

// 500 tensors to 500 results that all read one more tensor.
Tensors scaled(const Tensors& in) {
  Tensors results;
  for (std::size_t i = 0; i + 1 < in.size(); ++i) results.push_back(in[i] * in.back());
  return results;
}

TEST_P(LargeGroups, ReadersOfOneTensorFillKernels) {
  const std::vector<InputSpec> inputs(501, Shape{64, 64});
  const Plan plan = plan_of(trace_graph(inputs, scaled));
  // On a CPU 256 operations to a kernel. On a GPU 63: each reads and writes a tensor of its own,
  // and with the shared one these are 127 of 128 accesses.
  EXPECT_EQ(plan.groups.size(), on_gpu() ? 8u : 2u);
}

TEST_P(LargeGroups, TheReasonIsTheReadsAndWrites) {
  const std::vector<InputSpec> inputs(501, Shape{64, 64});
  const Plan plan =
      plan_of(trace_graph(inputs, [](const Tensors& in) { return Tensors{stack(scaled(in), 0)}; }));
  EXPECT_EQ(plan.groups.size(), on_gpu() ? 8u : 2u);
  expect_reason(plan, on_gpu() ? "one kernel would have more than 128 reads and writes"
                               : "one kernel would have more than 256 operations");
}

Tensors total(const Tensors& in) {
  Tensor sum = in[0];
  for (std::size_t i = 1; i < in.size(); ++i) sum = sum + in[i];
  return {sum};
}

TEST_P(LargeGroups, ALongSumIsCutIntoParts) {
  const std::vector<InputSpec> inputs(2000, Shape{64, 64});
  const Plan plan = plan_of(trace_graph(inputs, total));
  // 1999 additions: 256 to a kernel on a CPU. On a GPU 126 to a kernel, which reads 127 tensors and
  // writes one.
  EXPECT_EQ(plan.groups.size(), on_gpu() ? 16u : 8u);
  EXPECT_EQ(plan.unfused.size() + 1, plan.groups.size()) << "one partial sum between two kernels";
  expect_reason(plan, on_gpu() ? "one kernel would have more than 128 reads and writes"
                               : "one kernel would have more than 256 operations");
}

INSTANTIATE_TEST_SUITE_P(Cpu, LargeGroups, testing::Values(cpu()));
INSTANTIATE_TEST_SUITE_P(Cuda, LargeGroups, testing::Values(gpu()));

}  // namespace
}  // namespace sinter
