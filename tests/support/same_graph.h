// Graphs as text in tests: round trips, and programs after passes.
#pragma once

#include <gtest/gtest.h>

#include "src/graph/parse.h"
#include "tests/support/graph_reference.h"

namespace sinter::testing_support {

inline void expect_same_graph(const Graph& actual, const Graph& expected) {
  ASSERT_EQ(actual.nodes.size(), expected.nodes.size()) << to_string(expected);
  for (NodeId id = 0; id < expected.size(); ++id)
    ASSERT_TRUE(same_key(actual[id], expected[id])) << "%" << id << " of\n" << to_string(expected);
  ASSERT_EQ(actual.inputs, expected.inputs);
  ASSERT_TRUE(same_key(actual.outputs, expected.outputs)) << to_string(expected);
}

// The printed graph is read back as the same one.
inline void expect_round_trip(const Graph& graph) {
  const std::string text = to_string(graph);
  SCOPED_TRACE(text);
  Graph read;
  ASSERT_NO_THROW(read = parse_graph(text));
  EXPECT_EQ(to_string(read), text);
  expect_same_graph(read, graph);
}

// A program after a pass, as text, without dead nodes. The pass must not change the results.
inline std::string after(Graph (*pass)(Graph), std::string_view text) {
  return to_string(rewritten_by(pass, parse_graph(text)));
}

}  // namespace sinter::testing_support
