// OpCall: one primitive operation with its arguments, as data. apply() records it while a function
// is traced, else runs it through a program cached by everything it depends on.
#pragma once

#include <sinter/tensor.h>

#include <concepts>
#include <memory>
#include <tuple>
#include <vector>

#include "src/api/trace.h"
#include "src/graph/graph.h"

namespace sinter {

struct OpCall {
  Op op = Op::copy;
  // Tensors have the same shape; numbers take the tensors' dtype. constant: a number of each call.
  std::vector<Arg> args;
  Shape shape;               // of the result, for pointwise operations, constant and iota
  DType dtype = DType::f32;  // cast, constant, iota
  Scalar value;              // constant; iota's start
  Scalar step;               // iota
  ReduceKind reduce_kind = ReduceKind::sum;
  std::uint32_t axes = 0;           // reduce, contract: a mask; concat: the axis
  std::uint32_t reversed_axes = 0;  // copy: mask of the axes to reverse
  // copy: position of the operand in the result, which is `value` elsewhere; empty: not padded
  Shape padded_from;
  std::shared_ptr<Device> device;  // constant, iota: the target; null: not given
};

// An argument that is a number.
Scalar number_of(const Arg& arg);

// The cache key of an argument of an eager operation: tensors are inputs, numbers are part of the
// program.
template <typename Sink, std::same_as<Arg> OnlyArg>  // no implicit conversions
void add_words(Sink& sink, const OnlyArg& arg) {
  add_key(sink, arg.kind());
  if (arg.kind() != Arg::Kind::tensor) add_key(sink, number_of(arg));
}

constexpr auto fields_of(const OpCall*) {
  return std::tuple{key_field("op", &OpCall::op),
                    key_field("args", &OpCall::args),
                    key_field("shape", &OpCall::shape),
                    key_field("dtype", &OpCall::dtype),
                    key_field("value", &OpCall::value),
                    key_field("step", &OpCall::step),
                    key_field("reduce_kind", &OpCall::reduce_kind),
                    key_field("axes", &OpCall::axes),
                    key_field("reversed_axes", &OpCall::reversed_axes),
                    key_field("padded_from", &OpCall::padded_from),
                    note_field("device", &OpCall::device)};  // keyed separately
}
static_assert(kListsEveryField<OpCall>);

Tensor apply(const OpCall& call);

}  // namespace sinter
