// Records an OpCall as nodes (with the casts its dtype rule requires), or runs it at once.
#include "src/api/op_call.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "src/api/devices.h"
#include "src/api/number_checks.h"
#include "src/api/program_cache.h"
#include "src/base/check.h"
#include "src/program/build.h"

namespace sinter {
namespace {

// An argument's dtype for promotion: a number yields to any tensor of its kind.
DType arg_dtype(const Arg& arg, std::optional<DType> tensors) {
  if (arg.kind() == Arg::Kind::tensor) return arg.tensor().dtype();
  if (arg.kind() == Arg::Kind::boolean) return tensors.value_or(DType::boolean);
  if (arg.kind() == Arg::Kind::integer) {
    if (!tensors || *tensors == DType::boolean) return DType::i64;
    return *tensors;
  }
  return tensors && is_floating(*tensors) ? *tensors : DType::f32;
}

std::vector<DType> arg_dtypes(Op op, const std::vector<Arg>& args) {
  const std::size_t first = info(op).rule == DTypeRule::Select ? 1 : 0;
  std::optional<DType> tensors;
  for (std::size_t i = first; i < args.size(); ++i)
    if (args[i].kind() == Arg::Kind::tensor)
      tensors = tensors ? promote(*tensors, args[i].tensor().dtype()) : args[i].tensor().dtype();
  std::vector<DType> dtypes;
  for (std::size_t i = 0; i < args.size(); ++i)
    dtypes.push_back(i < first ? arg_dtype(args[i], std::nullopt) : arg_dtype(args[i], tensors));
  return dtypes;
}

Scalar number(const Arg& arg) {
  const bool is_real = arg.kind() == Arg::Kind::real || arg.is_beyond_i64();
  return is_real ? Scalar::of(arg.real()) : Scalar::of(arg.integer());
}

// The value of a number as an operand of type `dtype`. With 16-bit floats it keeps f32 precision,
// in which they are computed; a comparison rounds it, so that it can equal an element (both as in
// PyTorch).
Scalar number_as_operand(const Scalar& number, DTypeRule rule, DType dtype) {
  return number.as(rule == DTypeRule::Compare ? dtype : compute_dtype(dtype));
}

Operand constant_operand(Trace& trace, const Scalar& value, DType dtype, const Shape& shape) {
  Node node;
  node.op = Op::constant;
  node.dtype = dtype;
  node.value = value;
  return {trace.graph.add(std::move(node)), expand(dense_view({}), shape)};
}

Operand cast_operand(Trace& trace, const Operand& operand, DType dtype) {
  if (trace.graph[operand.node].dtype == dtype) return operand;
  Node node;
  node.op = Op::cast;
  node.dtype = dtype;
  node.shape = operand.view.shape;
  node.operands = {operand};
  const View view = dense_view(node.shape);
  return {trace.graph.add(std::move(node)), view};
}

Tensor record_pointwise(Trace& trace, const OpCall& call) {
  const std::vector<DType> dtypes = arg_dtypes(call.op, call.args);
  const OpTypes types = op_types(call.op, dtypes);
  const DType computed = types.operands[call.args.size() - 1];
  check_bools(call.op, computed);
  check_numbers(call.op, call.args, dtypes, computed);
  Node node;
  node.op = op_on(call.op, computed);
  node.shape = call.shape;
  node.dtype = types.result;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    const Arg& arg = call.args[i];
    if (arg.kind() == Arg::Kind::tensor) {
      Operand operand = trace.operand(arg.tensor());
      operand.view = reversed(expand(operand.view, call.shape), call.reversed_axes);
      node.operands.push_back(cast_operand(trace, operand, types.operands[i]));
    } else {
      const Scalar value = number_as_operand(number(arg).as(compute_dtype(dtypes[i])),
                                             info(call.op).rule, types.operands[i]);
      node.operands.push_back(constant_operand(trace, value, types.operands[i], call.shape));
    }
  }
  return trace.add(std::move(node));
}

Tensor traced(Trace& trace, const Operand& operand) {
  return make_traced(trace.graph[operand.node].dtype, operand.view, trace.weak_from_this(),
                     operand.node);
}

// 16-bit elements are computed in f32 and cast.
Tensor record_range(Trace& trace, const OpCall& call) {
  Node node;
  node.op = Op::iota;
  node.dtype = compute_dtype(call.dtype);
  node.shape = call.shape;
  node.value = call.value;
  node.step = call.step;
  const Operand counted{trace.graph.add(std::move(node)), dense_view(call.shape)};
  return traced(trace, cast_operand(trace, counted, call.dtype));
}

Tensor record(Trace& trace, const OpCall& call) {
  if (call.op == Op::constant)
    return traced(trace,
                  constant_operand(trace, call.value.as(call.dtype), call.dtype, call.shape));
  if (call.op == Op::iota) return record_range(trace, call);
  if (is_pointwise(call.op) && call.op != Op::cast) return record_pointwise(trace, call);
  Node node;
  node.op = call.op;
  node.dtype = call.dtype;
  node.shape = call.shape;
  node.reduce_kind = call.reduce_kind;
  node.axes = call.axes;
  for (const Arg& arg : call.args) node.operands.push_back(trace.operand(arg.tensor()));
  if (call.op == Op::reduce) {
    const Operand& operand = node.operands[0];
    node.dtype = reduce_dtype(call.reduce_kind, trace.graph[operand.node].dtype);
    node.shape = kept_shape(operand.view.shape, call.axes);
  }
  return trace.add(std::move(node));
}

std::string_view op_name(const OpCall& call) {
  if (call.op == Op::constant) return "full";  // the public name
  if (call.op == Op::iota) return "arange";
  return call.op == Op::reduce ? name_of(call.reduce_kind) : name_of(call.op);
}

// Everything besides the tensors and the device that determines the program.
std::vector<std::int64_t> key_of(const OpCall& call) {
  std::vector<std::int64_t> words{
      static_cast<int>(call.op), static_cast<int>(call.dtype), static_cast<int>(call.reduce_kind),
      static_cast<std::int64_t>(call.axes), static_cast<std::int64_t>(call.reversed_axes)};
  auto add_scalar = [&](const Scalar& s) {
    words.push_back(static_cast<std::int64_t>(s.is_real));
    words.push_back(s.is_real ? std::bit_cast<std::int64_t>(s.real) : s.integer);
  };
  if (call.op == Op::constant || call.op == Op::iota) {
    add_scalar(call.value);
    add_scalar(call.step);
  }
  for (std::int64_t size : call.shape) words.push_back(size);
  for (const Arg& arg : call.args) {
    words.push_back(static_cast<std::int64_t>(arg.kind()));
    if (arg.kind() != Arg::Kind::tensor) add_scalar(number(arg));
  }
  return words;
}

Tensor run_now(const OpCall& call) {
  std::vector<Tensor> inputs;
  for (const Arg& arg : call.args)
    if (arg.kind() == Arg::Kind::tensor) inputs.push_back(arg.tensor());
  std::shared_ptr<Device> device = common_device(op_name(call), inputs);
  if (!device) device = call.device ? call.device : default_device_handle();
  // Programs are looked up by operation first, then by inputs like those of a compiled function.
  static ProgramCache& cache = *new ProgramCache(4096);
  const std::vector<std::int64_t> key = key_of(call);
  auto build = [&] {
    auto trace = std::make_shared<Trace>();
    trace->device = device;
    OpCall recorded = call;
    for (Arg& arg : recorded.args)
      if (arg.kind() == Arg::Kind::tensor) arg = Arg(trace->add_input(arg.tensor()));
    const Tensor result = record(*trace, recorded);
    trace->graph.outputs.push_back({result.impl()->node, result.impl()->view});
    return build_traced(*trace, inputs, {.emulate_eager_rounding = true});
  };
  const auto program = cache.find_or_build(key, inputs, *device, build);
  return run_traced(*program, inputs)[0];
}

}  // namespace

Tensor apply(const OpCall& call) {
  if (Trace* trace = current_trace()) {
    if (call.device && trace->device && call.device != trace->device)
      fail_user(op_name(call), "the function runs on {}, where its inputs are, not on {}",
                trace->device->name(), call.device->name());
    if (call.device) trace->device = call.device;
    return record(*trace, call);
  }
  for (const Arg& arg : call.args)
    if (arg.kind() == Arg::Kind::tensor && arg.tensor().impl()->is_traced())
      fail_user(op_name(call),
                "a tensor made while tracing a function was used outside of it; return it from the "
                "function instead");
  return run_now(call);
}

}  // namespace sinter
