// The reductions for tests: how to call each, and a reference over gathered rows.
#pragma once

#include <sinter/sinter.h>

#include <string>
#include <vector>

#include "tests/support/values.h"

namespace sinter::testing {

// A tensor's elements by the result element they are reduced to, in row-major order.
struct Gathered {
  Shape shape;  // of the result
  std::vector<std::vector<Real>> rows;
};
Gathered gather(const Tensor& x, const std::vector<int>& axes, bool keepdim);

struct ReductionRow {
  std::string name;
  bool takes_several_axes;
  Tensor (*call)(const Tensor& x, const std::vector<int>& axes, bool keepdim);
  Real (*reference)(const std::vector<Real>& row);
  DType (*dtype)(DType input);
  // The bound: a multiple of `scale`, in half ulps of the compute dtype.
  double factor;
  Real (*scale)(const std::vector<Real>& row, Real result);
};
const std::vector<ReductionRow>& reduction_table();

::testing::AssertionResult matches_reduction(const Tensor& got, const ReductionRow& reduction,
                                             DType input, const Gathered& rows);

}  // namespace sinter::testing
