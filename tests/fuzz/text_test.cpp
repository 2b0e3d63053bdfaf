// The text of random programs: it is read back as the same graph, and random edits of it give a
// graph that verifies or a UserError, never anything else. SINTER_FUZZ_SEED and SINTER_FUZZ_COUNT
// choose the programs; without a seed, every run has new ones.
#include <gtest/gtest.h>
#include <sinter/error.h>

#include <cstdlib>
#include <random>
#include <string>

#include "src/api/trace.h"
#include "src/graph/simplify.h"
#include "tests/fuzz/editor.h"
#include "tests/fuzz/program.h"
#include "tests/support/same_graph.h"

namespace sinter::fuzz {
namespace {

Graph graph_of(std::uint64_t seed) {
  const RandomProgram program = generate(seed);
  auto trace = std::make_shared<Trace>();
  std::vector<Tensor> inputs;
  for (const Input& input : program.inputs) inputs.push_back(trace->add_input(make_input(input)));
  const TraceScope scope(trace.get());
  for (const Tensor& output : run_steps(program, inputs))
    trace->graph.outputs.push_back(trace->operand(output));
  return trace->graph;
}

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::uint64_t first_seed() { return number_from("SINTER_FUZZ_SEED", std::random_device{}()); }

TEST(GraphText, OfRandomProgramsIsReadBack) {
  const std::uint64_t first = first_seed();
  const std::uint64_t count = number_from("SINTER_FUZZ_COUNT", 300);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = graph_of(seed);
    testing_support::expect_round_trip(graph);
    testing_support::expect_round_trip(simplify(graph));
    if (HasFailure()) return;
  }
}

// --- edits ---

constexpr const char* kWords[] = {"%0",
                                  "%1",
                                  "exp",
                                  "sum",
                                  "over",
                                  "axes",
                                  "axis",
                                  "return",
                                  "sizes n = 4\n",
                                  "n",
                                  "f16",
                                  "i64",
                                  "bool",
                                  "input",
                                  "iota",
                                  "constant",
                                  "cast",
                                  "concat",
                                  "contract",
                                  "matmul",
                                  "strides",
                                  "(",
                                  ")",
                                  "[",
                                  "]",
                                  ",",
                                  ":",
                                  "=",
                                  ".",
                                  "-",
                                  "+",
                                  "*",
                                  "/",
                                  "nan",
                                  "inf",
                                  "exact",
                                  "true",
                                  "0",
                                  "1",
                                  "2",
                                  "1.5",
                                  "-1",
                                  "1e308",
                                  "9223372036854775807",
                                  "4611686018427387904",
                                  ".slice(0, 0, 2)",
                                  ".transpose(0, 1)",
                                  ".reshape(-1)",
                                  ".expand(2, -1)",
                                  ".flip(0)",
                                  ".pad(0, 1, 2) else 0.5",
                                  ".unsqueeze(0)",
                                  ".squeeze(0)",
                                  ".permute(1, 0)",
                                  "\n",
                                  "//",
                                  " ",
                                  "\x80",
                                  "step"};

TEST(GraphText, EditedAtRandomIsAGraphOrAUserError) {
  const std::uint64_t first = first_seed();
  const std::uint64_t count = number_from("SINTER_FUZZ_COUNT", 300);
  int graphs = 0;
  int errors = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const std::string text = to_string(graph_of(seed));
    Editor editor(seed, kWords);
    for (int i = 0; i < 50; ++i) {
      const std::string edited = editor.edited(text);
      SCOPED_TRACE(::testing::Message() << "seed " << seed << "\n" << edited);
      try {
        const Graph graph = parse_graph(edited);
        ASSERT_NO_THROW(verify(graph));
        testing_support::expect_round_trip(graph);
        ASSERT_NO_THROW(verify(simplify(graph)));
        ++graphs;
      } catch (const UserError&) {
        ++errors;
      }
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(graphs, errors / 50);
  EXPECT_GT(errors, graphs / 50);
}

}  // namespace
}  // namespace sinter::fuzz
