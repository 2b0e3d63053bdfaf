// OpCall: one primitive operation with its arguments, as data. apply() records it when a function
// is being traced, else runs it through a program cached by everything that shapes it.
#pragma once

#include <sinter/tensor.h>

#include <memory>
#include <vector>

#include "src/api/trace.h"
#include "src/graph/graph.h"

namespace sinter {

struct OpCall {
  Op op = Op::copy;
  std::vector<Arg> args;  // of one shape where they are tensors; numbers are read as they meet them
  Shape shape;            // the result's, for pointwise operations, constant and iota
  DType dtype = DType::f32;  // cast, constant, iota
  Scalar value;              // constant; iota's start
  Scalar step;               // iota
  ReduceKind reduce_kind = ReduceKind::sum;
  std::uint32_t axes = 0;           // reduce: a mask; concat: the axis
  std::uint32_t reversed_axes = 0;  // copy: a mask of those that are read backwards
  std::shared_ptr<Device> device;   // constant, iota: where to; null: not said
};

Tensor apply(const OpCall& call);

}  // namespace sinter
