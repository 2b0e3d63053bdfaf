// Plans of graphs for tests: verified, with their reasons as text, and compared with the reference.
// In: a Graph. Out: a Plan; test failures.
#pragma once

#include <string>

#include "src/fuse/plan.h"
#include "src/graph/simplify.h"
#include "tests/support/graph_reference.h"
#include "tests/support/random_graph.h"

namespace sinter::testing_support {

inline Plan plan_of(const Graph& graph, const FusionOptions& options = {}) {
  const Graph simplified = simplify(graph);
  verify(simplified);
  Plan plan = make_plan(simplified, options);
  verify(plan);
  return plan;
}

inline std::string reasons(const Plan& plan) {
  std::string text;
  for (const UnfusedEdge& edge : plan.unfused) text += edge.reason + "\n";
  return text;
}

inline void expect_reference_values(const Graph& graph, const Plan& plan, double bound = 1e-5) {
  const auto inputs = random_inputs(graph, 3);
  expect_close(run_plan(plan, inputs), evaluate(graph, inputs), bound, to_string(plan));
}

}  // namespace sinter::testing_support
