// The text of random programs: it is read back as the same graph, and random edits of it give a
// graph that verifies, and that computes the same fused and unfused, or a UserError with its
// position, never anything else. SINTER_FUZZ_SEED and SINTER_FUZZ_COUNT choose the programs;
// without a seed, every run has new ones.
#include <gtest/gtest.h>
#include <sinter/error.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>

#include "src/graph/parse.h"
#include "src/graph/simplify.h"
#include "tests/fuzz/editor.h"
#include "tests/fuzz/executor.h"
#include "tests/fuzz/graph_check.h"
#include "tests/support/same_graph.h"

namespace sinter::fuzz {
namespace {

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
    const Graph graph = graph_of(generate(seed));
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
                                  "divisor",
                                  "quotient",
                                  "number",
                                  "argument",
                                  "real",
                                  "integer",
                                  "guard ",
                                  "is",
                                  "not",
                                  "#",
                                  "#0",
                                  "#1",
                                  "#a",
                                  "\n#a = argument real 0.5\n",
                                  "\n#b = argument integer 3\n",
                                  "\n#c = argument bool true\n",
                                  "\n#d = mul f64 #0, #1\n",
                                  "\n#e = quotient #0, #1\n",
                                  "\n#f = exact i32 #0\n",
                                  "\n#g = divisor i64 #0\n",
                                  "\n%n: f32() = number #0\n",
                                  "\n%m: i64() = number #1\n",
                                  "\nguard #0 is not 1.0\n",
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
                                  ".pad(0, 1000000, 0)",
                                  " where (0) to (1) else 0.0",
                                  ".unsqueeze(0)",
                                  ".squeeze(0)",
                                  ".permute(1, 0)",
                                  "\n",
                                  "//",
                                  " ",
                                  "\x80",
                                  "step"};

// "[parse] 3:14: .."
bool has_position(const std::string& error) {
  int line = 0;
  int column = 0;
  return std::sscanf(error.c_str(), "[parse] %d:%d: ", &line, &column) == 2;
}

// The graph of an edited text, or its mistake.
struct Edited {
  std::optional<Graph> graph;
  std::string error;

  explicit Edited(const std::string& text) {
    try {
      graph = parse_graph(text);
    } catch (const UserError& mistake) {
      error = mistake.what();
    }
  }
};

TEST(GraphText, EditedAtRandomIsAGraphOrAUserError) {
  const std::uint64_t first = first_seed();
  const std::uint64_t count = number_from("SINTER_FUZZ_COUNT", 300);
  int graphs = 0;
  int errors = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const std::string text = to_string(graph_of(generate(seed)));
    Editor editor(seed, kWords);
    for (int i = 0; i < 50; ++i) {
      const std::string edited = editor.edited(text);
      SCOPED_TRACE(::testing::Message() << "seed " << seed << "\n" << edited);
      const Edited read(edited);
      if (read.graph) {
        ASSERT_NO_THROW(verify(*read.graph));
        testing_support::expect_round_trip(*read.graph);
        ASSERT_NO_THROW(verify(simplify(*read.graph)));
        ++graphs;
      } else {
        EXPECT_TRUE(has_position(read.error)) << read.error;
        ++errors;
      }
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(graphs, errors / 50);
  EXPECT_GT(errors, graphs / 50);
}

// Fewer than above, since planning and running a graph takes longer than parsing it.
TEST(GraphText, EditedAtRandomComputesTheSameFusedAndUnfused) {
  constexpr std::int64_t kMostWork = 100'000;
  const std::uint64_t first = first_seed();
  const std::uint64_t count = number_from("SINTER_FUZZ_COUNT", 300);
  int runs = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const std::string text = to_string(graph_of(generate(seed)));
    Editor editor(seed, kWords);
    int graphs = 0;
    for (int i = 0; i < 50 && graphs < 5; ++i) {
      const std::string edited = editor.edited(text);
      const Edited read(edited);
      if (!read.graph) continue;
      SCOPED_TRACE(::testing::Message() << "seed " << seed << "\n" << edited);
      ++graphs;
      ASSERT_NO_THROW(verify_plans(*read.graph));
      if (work_of(*read.graph) > kMostWork) continue;
      ++runs;
      std::optional<std::string> wrong;
      ASSERT_NO_THROW(wrong = compare_runs(*read.graph));
      ASSERT_FALSE(wrong) << *wrong;
    }
  }
  EXPECT_GT(runs, static_cast<int>(count) / 2);
}

}  // namespace
}  // namespace sinter::fuzz
