// Programs with sums of exponentials below their maximum, on rows that are hard for a running sum.
// In: a function that runs kernels. Out: failures if a looping form differs from the f64 reference.
#pragma once

#include <string>
#include <vector>

#include "tests/support/graph_reference.h"

namespace sinter::testing_support {

struct OnlineProgram {
  std::string name;
  Graph graph;  // of one input, (rows, cols), or (cols, rows) where it reduces over axis 0
  int passes;   // over the reduced axis: with online sums, and without
  int plain_passes;
};

// Reduces (rows, cols) along the columns (axis 1), or (cols, rows) along axis 0.
std::vector<OnlineProgram> online_programs(std::int64_t rows, std::int64_t cols, DType dtype,
                                           int axis = 1);

// A looping form with tiles of 32 columns on 32 threads.
Config looping_config(const IterationSpace& space, bool online);

// Rows with infinities, NaN, rising and falling values, rounded to `dtype`.
Numbers hard_rows(std::int64_t rows, std::int64_t cols, DType dtype, int axis = 1);

// Every program at odd lengths, one of them long enough for sums in blocks.
void expect_online_right(DType dtype, int axis, const KernelRunner& run = {});

}  // namespace sinter::testing_support
