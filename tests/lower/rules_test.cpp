// The tables of rules: docs/CONFIG_RULES.md lists them, every rule chooses for some group, and
// explain() tells which one did. The page is generated; the test prints the command.
#include "src/lower/rules.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "src/lower/family.h"
#include "tests/support/graph_maker.h"

namespace sinter {
namespace {

using testing_support::along_rows;
using testing_support::expanded;
using testing_support::GraphMaker;
using testing_support::transposed;

Machine gpu(int largest_cluster, MatmulLibrary library = MatmulLibrary::none) {
  return {.kind = MachineKind::gpu,
          .matmul_library = library,
          .cache_bytes = 50 << 20,
          .multiprocessors = 132,
          .largest_cluster = largest_cluster,
          .shared_bytes_per_multiprocessor = 228 << 10};
}

// --- programs ------------------------------------------------------------------------------------

Operand softmax(GraphMaker& maker, const Operand& x) {
  const std::int64_t columns = x.view.shape[1];
  const Operand top = maker.reduce(ReduceKind::max, x, {1});
  const Operand power = maker.op(Op::exp, {maker.op(Op::sub, {x, along_rows(top, columns)})});
  const Operand total = maker.reduce(ReduceKind::sum, power, {1});
  return maker.op(Op::div, {power, along_rows(total, columns)});
}

Operand centred(GraphMaker& maker, const Operand& x) {
  const Operand mean = maker.reduce(ReduceKind::sum, x, {1});
  return maker.op(Op::sub, {x, along_rows(mean, x.view.shape[1])});
}

using Program = void (*)(GraphMaker& maker, const Operand& x);

const std::vector<Program>& programs() {
  static const std::vector<Program> all{
      [](GraphMaker& maker, const Operand& x) { maker.output(softmax(maker, x)); },
      [](GraphMaker& maker, const Operand& x) { maker.output(softmax(maker, softmax(maker, x))); },
      [](GraphMaker& maker, const Operand& x) { maker.output(centred(maker, x)); },
      [](GraphMaker& maker, const Operand& x) {  // all rows share an operand
        const Operand weights = maker.input({x.view.shape[1]}, maker.graph.dtype(x));
        maker.output(maker.op(Op::mul, {centred(maker, x), expanded(weights, x.view.shape)}));
      },
      [](GraphMaker& maker, const Operand& x) {  // the same, after two reductions
        const Operand weights = maker.input({x.view.shape[1]}, maker.graph.dtype(x));
        maker.output(maker.op(Op::mul, {softmax(maker, x), expanded(weights, x.view.shape)}));
      },
      [](GraphMaker& maker, const Operand& x) {
        maker.output(maker.reduce(ReduceKind::sum, x, {1}));
      },
      [](GraphMaker& maker, const Operand& x) {
        maker.output(maker.reduce(ReduceKind::sum, x, {0}));
      },
      [](GraphMaker& maker, const Operand& x) {
        maker.output(maker.reduce(ReduceKind::sum, x, {1}));
        maker.output(maker.op(Op::cos, {x}));
      },
      [](GraphMaker& maker, const Operand& x) { maker.output(maker.op(Op::exp, {x})); },
      [](GraphMaker& maker, const Operand& x) {
        const Operand bias = maker.input({x.view.shape[1]}, maker.graph.dtype(x));
        maker.output(maker.op(Op::add, {x, expanded(bias, x.view.shape)}));
      },
      [](GraphMaker& maker, const Operand& x) {
        const Operand other = maker.input({x.view.shape[1], x.view.shape[0]}, maker.graph.dtype(x));
        maker.output(maker.op(Op::add, {x, transposed(other)}));
      }};
  return all;
}

Graph product(std::int64_t m, std::int64_t n) {
  constexpr std::int64_t k = 64;
  GraphMaker maker;
  const Operand a = maker.input({m, k});
  const Operand b = maker.input({n, k});
  const Shape all{m, n, k};
  maker.output(maker.build.contract({a.node, {all, {k, 0, 1}, 0}}, {b.node, {all, {0, k, 1}, 0}}, 4,
                                    DType::f32));
  return maker.graph;
}

// --- the rules that choose for them --------------------------------------------------------------

using Names = std::set<std::pair<std::string, std::string>>;  // (part, name)

void add_chosen(const Graph& graph, const Machine& machine, Names& chosen,
                const FusionOptions& options = {}) {
  const Plan plan = make_plan(graph, options);
  for (GroupId g = 0; g < plan.groups.end_id(); ++g)
    for (const RuleText& rule : best_offer(iteration_space(plan, g), machine).rules)
      chosen.emplace(rule.part, rule.name);
}

TEST(RulesTest, EveryRuleChoosesForSomeGroup) {
  Names chosen;
  for (const int cluster : {1, 8})
    for (const Program program : programs())
      for (const DType dtype : {DType::f32, DType::f16, DType::f64})
        for (const std::int64_t rows : {1, 100, 200, 400, 600, 1000, 4000, 65536})
          for (const std::int64_t columns : {17, 113, 128, 300, 512, 1024, 2048, 4096, 8192, 9001,
                                             16384, 32768, 65536, 131072, 262144}) {
            GraphMaker maker;
            program(maker, maker.input({rows, columns}, dtype));
            add_chosen(maker.graph, gpu(cluster), chosen);
          }
  for (const std::int64_t columns : {128, 2048, 65536}) {
    GraphMaker maker;
    maker.output(softmax(maker, maker.input({100, columns})));
    FusionOptions options;
    make_batch_invariant(options);
    add_chosen(maker.graph, gpu(8), chosen, options);
  }
  GraphMaker few_rows;
  const Operand wide = few_rows.input({200, 48622});
  few_rows.output(few_rows.op(Op::add, {wide, transposed(few_rows.input({48622, 200}))}));
  add_chosen(few_rows.graph, gpu(8), chosen);
  GraphMaker scalar;
  scalar.output(scalar.op(Op::exp, {scalar.input({})}));
  add_chosen(scalar.graph, gpu(8), chosen);
  for (const std::int64_t size : {64, 4096}) {
    add_chosen(product(size, size), gpu(8), chosen);
    add_chosen(product(size, size), gpu(8, MatmulLibrary::cublaslt), chosen);
  }
  Names listed;
  for (const RuleText& rule : config_rules()) {
    EXPECT_TRUE(listed.emplace(rule.part, rule.name).second) << rule.name << " is there twice";
    EXPECT_TRUE(chosen.count({rule.part, rule.name}))
        << "no group of these has the rule '" << rule.name << "' (" << rule.part << ")";
  }
  for (const auto& [part, name] : chosen)
    EXPECT_TRUE(listed.count({part, name})) << "'" << name << "' is not in config_rules()";
}

TEST(RulesTest, EveryRuleHasANameAndAReason) {
  for (const RuleText& rule : config_rules()) {
    EXPECT_NE(std::string(rule.name), "");
    EXPECT_GT(std::string(rule.reason).size(), 8u) << rule.name;
  }
}

TEST(RulesTest, OffersNameTheRulesOfTheirFirstConfig) {
  GraphMaker maker;
  maker.output(softmax(maker, maker.input({65536, 128})));
  const Offer offer = best_offer(iteration_space(make_plan(maker.graph, {}), 0), gpu(8));
  ASSERT_EQ(offer.rules.size(), 3u);
  EXPECT_EQ(offer.rules[0].part, std::string("threads"));
  EXPECT_EQ(offer.rules[0].name, std::string("other short rows"));
  EXPECT_EQ(offer.rules[1].part, std::string("prefetch"));
  EXPECT_EQ(offer.rules[2].part, std::string("L2 cache"));
}

// --- the page ------------------------------------------------------------------------------------

std::string page() {
  std::string text =
      "# How configs are chosen on a GPU\n\n"
      "A part of a kernel's config (threads per row, tile sizes, prefetch depth, what the L2 cache "
      "keeps) is chosen by an\nordered table of rules. The first rule whose condition holds "
      "chooses; `sinter explain` prints its name, and [tuning](TUNING.md)\nreplaces its choice by "
      "a "
      "measured one. A rule speaks of what the program does, of bytes, of rows per multiprocessor, "
      "of\nregisters and waves. What holds for one size only belongs in a tuning file.\n\n"
      "Rows are *short* up to 512 elements, *middle* up to 8192, then *long*, and *very long* from "
      "65536. *16-bit* means that\nno element is wider, *packed* that a thread keeps its elements "
      "as pairs of 16-bit floats, *stored without waiting* that\nresults do not depend on the "
      "row's reduction. *Shared operands* are those that all rows read, such as weights.\n\n"
      "The tables are in `src/lower/gpu_row_rules.cpp`, `gpu_pointwise_configs.cpp`, "
      "`gpu_loop_configs.cpp`, `gpu_caching.cpp`\nand `matmul_family.cpp`. This page is generated "
      "from them: `tests/lower/rules_test.cpp` fails if it is out of date, and if\nno group has "
      "some rule.\n";
  std::string part;
  for (const RuleText& rule : config_rules()) {
    if (part != rule.part)
      text +=
          std::string("\n## ") + rule.part + "\n\n| the first of these | rests on |\n|---|---|\n";
    part = rule.part;
    text += std::string("| ") + rule.name + " | " + rule.reason + " |\n";
  }
  return text;
}

TEST(RulesTest, ThePageListsEveryRule) {
  const char* source = std::getenv("SINTER_SOURCE_DIR");
  if (!source) GTEST_SKIP() << "SINTER_SOURCE_DIR is not set";
  const std::string path = std::string(source) + "/docs/CONFIG_RULES.md";
  if (std::getenv("SINTER_REWRITE_DOCS")) std::ofstream(path) << page();
  std::stringstream found;
  found << std::ifstream(path).rdbuf();
  EXPECT_EQ(found.str(), page())
      << "docs/CONFIG_RULES.md is out of date. Run\n"
         "SINTER_SOURCE_DIR=. SINTER_REWRITE_DOCS=1 build/ci/tests/test_lower "
         "--gtest_filter='RulesTest.*'";
}

}  // namespace
}  // namespace sinter
