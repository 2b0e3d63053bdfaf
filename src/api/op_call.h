// OpCall: one primitive operation with its arguments, as data. apply() records it while a function
// is traced, else runs it through a program cached by everything it depends on.
#pragma once

#include <sinter/tensor.h>

#include <memory>
#include <vector>

#include "src/api/trace.h"
#include "src/graph/graph.h"

namespace sinter {

struct OpCall {
  Op op = Op::copy;
  std::vector<Arg> args;     // tensors have one shape; numbers take their dtype
  Shape shape;               // of the result, for pointwise operations, constant and iota
  DType dtype = DType::f32;  // cast, constant, iota
  Scalar value;              // constant; iota's start
  Scalar step;               // iota
  ReduceKind reduce_kind = ReduceKind::sum;
  std::uint32_t axes = 0;           // reduce: a mask; concat: the axis
  std::uint32_t reversed_axes = 0;  // copy: mask of the axes to reverse
  std::shared_ptr<Device> device;   // constant, iota: the target; null: not given
};

Tensor apply(const OpCall& call);

}  // namespace sinter
