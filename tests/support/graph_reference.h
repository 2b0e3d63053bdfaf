// Brute-force f64 evaluation of a Graph: the reference for tests of simplifier, planner and
// lowering. Numbers are doubles throughout, so integers must stay below 2^53; only casts and
// constants round to their dtype.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "src/fuse/plan.h"
#include "src/lower/family.h"
#include "src/tile/interpreter.h"

namespace sinter::testing_support {

using Numbers = std::vector<double>;

// Offsets of a view's elements in row-major order of its indices.
std::vector<std::int64_t> offsets_of(const View& view);

// `inputs`: the elements of each input's buffer. Out: each output's elements, row-major.
std::vector<Numbers> evaluate(const Graph& graph, const std::vector<Numbers>& inputs);

// Numbers suitable for the dtype: small ones for integers, 0 and 1 for bool.
Numbers random_numbers(std::mt19937& random, std::int64_t count, DType dtype);
// Enough elements for every view of each input.
std::vector<Numbers> random_inputs(const Graph& graph, unsigned seed);

std::vector<std::byte> to_bytes(const Numbers& numbers, DType dtype);
Numbers to_numbers(const std::vector<std::byte>& bytes, DType dtype);

// Runs a kernel; tile::interpret() if not given.
using KernelRunner = std::function<void(const Kernel&, const std::vector<tile::BufferBinding>&)>;
// Chooses a group's configuration; choose_config() if not given.
using ConfigChooser = std::function<Config(const IterationSpace&)>;

// Lowers and runs every group of the plan, in order. Unwritten memory holds a pattern that no
// result has. Returns the same as evaluate().
std::vector<Numbers> run_plan(const Plan& plan, const std::vector<Numbers>& inputs,
                              const ConfigChooser& choose = {}, const KernelRunner& run = {});

// |actual - expected| <= bound * (1 + |expected|), element by element; NaN and infinities equal.
void expect_close(const std::vector<Numbers>& actual, const std::vector<Numbers>& expected,
                  double bound, const std::string& what = {});

// The graph after the pass, without dead nodes. Checks that it computes the same on random inputs.
Graph rewritten_by(Graph (*pass)(Graph), const Graph& graph);

}  // namespace sinter::testing_support
