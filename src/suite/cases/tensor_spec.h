// TensorSpec: an input or an output of a workload, as a peer has to know it.
#pragma once

#include <sinter/dtype.h>
#include <sinter/shape.h>

#include <optional>
#include <string_view>

namespace sinter::suite {

struct TensorSpec {
  DType dtype = DType::f32;
  Shape shape;
  // Of an input, how its elements are drawn: "normal", "softmax" or "shares" (see Values), or, in
  // programs from files, "integers" or "bools". src/suite/peers/torch_suite/inputs.py draws alike.
  std::string_view values;
  // Of a case's matrices and row values: the axis that counts the rows, which do not depend on each
  // other.
  std::optional<int> row_axis;
};

}  // namespace sinter::suite
