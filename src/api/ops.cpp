// Pointwise operations, generated from ops.def.
#include <sinter/ops.h>

#include <initializer_list>

#include "src/api/op_call.h"
#include "src/api/origin.h"
#include "src/base/check.h"

namespace sinter {
namespace {

std::string arg_text(const Arg& arg) {
  return arg.kind() == Arg::Kind::tensor ? to_string(arg.tensor().shape()) : "a number";
}

// The shape all arguments broadcast to.
Shape common_shape(std::string_view op, const std::vector<Arg>& args) {
  Shape shape;
  bool any_tensor = false;
  for (const Arg& arg : args) {
    if (arg.kind() != Arg::Kind::tensor) continue;
    checked(op, arg.tensor());
    any_tensor = true;
    const Shape& other = arg.tensor().shape();
    while (shape.rank() < other.rank()) shape.insert(0, 1);
    for (int i = 0; i < other.rank(); ++i) {
      std::int64_t& size = shape[shape.rank() - other.rank() + i];
      if (size == 1) size = other[i];
      if (size == other[i] || other[i] == 1) continue;
      constexpr std::string_view kNames[] = {"a", "b", "c"};
      std::string sides;
      for (std::size_t k = 0; k < args.size(); ++k)
        sides += fmt::format("{}{} is {}", k ? ", " : "", kNames[k], arg_text(args[k]));
      fail_user(op, "shapes do not broadcast: {}", sides);
    }
  }
  if (!any_tensor) fail_user(op, "needs at least one tensor, got only numbers");
  checked_numel(op, shape);
  return shape;
}

Tensor pointwise(Op op, std::initializer_list<Arg> args) {
  OpCall call;
  call.op = op;
  call.args = args;
  call.shape = common_shape(name_of(op), call.args);
  if (op == Op::copy && call.args[0].tensor().is_contiguous() && !current_trace())
    return call.args[0].tensor();
  return apply(call);
}

}  // namespace

#define SINTER_POINTWISE_ARGS_1 const Arg& a
#define SINTER_POINTWISE_ARGS_2 const Arg &a, const Arg &b
#define SINTER_POINTWISE_ARGS_3 const Arg &a, const Arg &b, const Arg &c
#define SINTER_POINTWISE_LIST_1 a
#define SINTER_POINTWISE_LIST_2 a, b
#define SINTER_POINTWISE_LIST_3 a, b, c
#define SINTER_POINTWISE(name, arity, rule, cost, ...)           \
  Tensor name(SINTER_POINTWISE_ARGS_##arity) {                   \
    return pointwise(Op::name, {SINTER_POINTWISE_LIST_##arity}); \
  }
#include <sinter/ops.def>
#undef SINTER_POINTWISE

Tensor cast(const Arg& a, DType dtype) {
  if (a.kind() != Arg::Kind::tensor) fail_user("cast", "needs a tensor, got a number");
  check_dtype("cast", dtype);
  const TensorImpl& impl = checked("cast", a.tensor());
  if (impl.dtype == dtype) {
    // While tracing, a 16-bit value may have f32 precision: the cast rounds it.
    const bool is_rounded = !impl.is_traced() || compute_dtype(dtype) == dtype;
    return is_rounded ? a.tensor() : cast(cast(a, compute_dtype(dtype)), dtype);
  }
  OpCall call;
  call.op = Op::cast;
  call.args = {a};
  call.shape = a.tensor().shape();
  call.dtype = dtype;
  return apply(call);
}

Tensor gelu(const Arg& a, GeluForm form) {
  const OperationName name("gelu");
  return form == GeluForm::erf ? gelu_erf(a) : gelu_tanh(a);
}

}  // namespace sinter
