// The op table for tests: for every row of ops.def its function, its dtype rule, and an independent
// reference. A row without a reference in op_references.def does not compile.
#pragma once

#include <sinter/sinter.h>

#include <span>
#include <string>
#include <vector>

#include "tests/support/values.h"

namespace sinter::testing {

enum class Rule { Same, Number, Ring, Signed, Whole, Floating, Compare, Logical, Test, Select };

struct OpRow {
  std::string name;
  int arity;
  Rule rule;
  double f32_ulps;
  double f64_ulps;
  Tensor (*call)(std::span<const Arg> args);
  Real (*real)(Real a, Real b, Real c);
  // On integers, wrapped to the dtype; null where the operation has no integer form.
  Real (*integer)(DType dtype, Real a, Real b, Real c);
};

const std::vector<OpRow>& op_table();

// The dtype rules, written independently of the library.
DType expected_dtype(Rule rule, DType promoted);  // of the result
DType operand_dtype(Rule rule, DType promoted);   // that operands are converted to

// Whether the op takes operands of that dtype.
bool takes(const OpRow& op, DType promoted);
// Whether the op accepts that number: integers are not divided by zero or raised to a negative
// power.
bool takes_number(const OpRow& op, DType promoted, bool number_is_second, Real number);

// The value of the op for operands of one dtype (they are converted as the rule says).
Real reference_value(const OpRow& op, DType dtype, Real a, Real b = 0, Real c = 0);
Tolerance tolerance_of(const OpRow& op, DType result);

}  // namespace sinter::testing
