// Records an OpCall as nodes (with the casts its dtype rule requires), or runs it eagerly.
#include "src/api/op_call.h"

#include <algorithm>
#include <optional>

#include "src/api/devices.h"
#include "src/api/number_checks.h"
#include "src/api/origin.h"
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

// The value of a number as an operand of type `dtype`. Beside 16-bit floats it keeps f32 precision,
// since their arithmetic is done in f32; a comparison rounds it, so that it can equal an element
// (both as in PyTorch).
Scalar number_as_operand(const Scalar& number, DTypeRule rule, DType dtype) {
  return number.as(rule == DTypeRule::Compare ? dtype : compute_dtype(dtype));
}

bool is_traced_number(const Arg& arg) {
  return arg.kind() != Arg::Kind::tensor && arg.number().is_traced();
}

// The exponent decides how a power is computed, so it is compiled in.
OpCall with_known_exponent(Trace& trace, const OpCall& call) {
  OpCall known = call;
  known.args[1] = Arg(trace.specialized(call.args[1].number()));
  return known;
}

Operand record_pointwise(Trace& trace, const OpCall& call) {
  if (call.op == Op::pow && is_traced_number(call.args[1]))
    return record_pointwise(trace, with_known_exponent(trace, call));
  const std::vector<DType> dtypes = arg_dtypes(call.op, call.args);
  const OpTypes types = op_types(call.op, dtypes);
  const DType computed = types.operands[call.args.size() - 1];
  check_bools(call.op, computed);
  check_numbers(call.op, call.args, dtypes, computed);
  std::vector<Operand> operands;
  operands.reserve(call.args.size());
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    const Arg& arg = call.args[i];
    if (arg.kind() == Arg::Kind::tensor) {
      Operand operand = trace.operand(arg.tensor());
      operand.view = expand(operand.view, call.shape);
      if (call.reversed_axes != 0) operand.view = reversed(operand.view, call.reversed_axes);
      operands.push_back(trace.build.cast(operand, types.operands[i]));
    } else if (is_traced_number(arg)) {
      const NumberId number = trace.graph.numbers.as_operand(trace.number(arg.number()), call.op, i,
                                                             dtypes[i], types.operands[i]);
      operands.push_back(trace.build.number(number, types.operands[i], call.shape));
    } else {
      const Scalar value = number_as_operand(number_of(arg).as(compute_dtype(dtypes[i])),
                                             info(call.op).rule, types.operands[i]);
      operands.push_back(trace.build.constant(value, types.operands[i], call.shape));
    }
  }
  return trace.build.pointwise(call.op, operands);
}

// A tensor filled with a number of each call.
Operand record_full(Trace& trace, const OpCall& call) {
  const NumberId number = trace.graph.numbers.add(
      {.kind = NumberExpr::Kind::exact,
       .dtype = call.dtype,
       .operands = {trace.number(call.args[0].number()), kNoNumber, kNoNumber},
       .user = "full"});
  return trace.build.number(number, call.dtype, call.shape);
}

Operand record_padded(Trace& trace, const OpCall& call) {
  Operand operand = trace.operand(call.args[0].tensor());
  for (int i = 0; i < call.shape.rank(); ++i) {
    const std::int64_t before = call.padded_from[i];
    const std::int64_t after = call.shape[i] - before - operand.view.shape[i];
    operand.view = *pad(operand.view, i, before, after, call.value);
  }
  return trace.build.unpadded(operand);
}

Operand record(Trace& trace, const OpCall& call) {
  GraphBuilder& build = trace.build;
  const auto operand = [&](std::size_t i) { return trace.operand(call.args[i].tensor()); };
  switch (call.op) {
    case Op::constant:
      if (!call.args.empty()) return record_full(trace, call);
      return build.constant(call.value.as(call.dtype), call.dtype, call.shape);
    case Op::iota:  // 16-bit elements are counted in f32 and cast, which rounds them
      return build.cast(
          build.range(call.shape[0], call.value, call.step, compute_dtype(call.dtype)), call.dtype);
    case Op::cast:
      return build.cast(operand(0), call.dtype);
    case Op::reduce:
      return build.reduce(call.reduce_kind, operand(0), call.axes);
    case Op::contract:
      return build.contract(operand(0), operand(1), call.axes, call.args[0].tensor().dtype());
    case Op::concat: {
      std::vector<Operand> parts;
      for (std::size_t i = 0; i < call.args.size(); ++i) parts.push_back(operand(i));
      return build.concat(std::move(parts), static_cast<int>(call.axes));
    }
    default:
      if (!call.padded_from.empty()) return record_padded(trace, call);
      return record_pointwise(trace, call);
  }
}

std::string_view op_name(const OpCall& call) {
  if (call.op == Op::constant) return "full";  // the public name
  if (call.op == Op::iota) return "arange";
  return call.op == Op::reduce ? name_of(call.reduce_kind) : name_of(call.op);
}

Tensor recorded(Trace& trace, const OpCall& call) {
  trace.build.set_origin(record_origin(trace, op_name(call)));
  return trace.traced(record(trace, call));
}

Tensor run_now(const OpCall& call) {
  std::vector<Tensor> inputs;
  for (const Arg& arg : call.args)
    if (arg.kind() == Arg::Kind::tensor) inputs.push_back(arg.tensor());
  std::shared_ptr<Device> device = common_device(op_name(call), inputs);
  if (!device) device = call.device ? call.device : default_device_handle();
  // Programs are looked up by operation first, then by inputs like those of a compiled function.
  static ProgramCache& cache = *new ProgramCache(4096);
  KeyWords key;
  add_key(key, call);
  auto build = [&] {
    auto trace = std::make_shared<Trace>();
    trace->device = device;
    OpCall traced = call;
    for (Arg& arg : traced.args)
      if (arg.kind() == Arg::Kind::tensor) arg = Arg(trace->add_input(arg.tensor()));
    trace->graph.outputs.push_back(trace->operand(recorded(*trace, traced)));
    return build_traced(*trace, inputs, {.emulate_eager_rounding = true});
  };
  const auto program = cache.find_or_build(key.words(), inputs, *device, build);
  return run_traced(*program, inputs)[0];
}

}  // namespace

Scalar number_of(const Arg& arg) {
  const bool is_real = arg.kind() == Arg::Kind::real || arg.is_beyond_i64();
  return is_real ? Scalar::of(arg.real()) : Scalar::of(arg.integer());
}

Tensor apply(const OpCall& call) {
  if (Trace* trace = current_trace()) {
    if (call.device && trace->device && call.device != trace->device)
      fail_user(op_name(call), "the function runs on {}, where its inputs are, not on {}",
                trace->device->name(), call.device->name());
    if (call.device) trace->device = call.device;
    return recorded(*trace, call);
  }
  if (std::any_of(call.args.begin(), call.args.end(), is_traced_number))
    fail_user(op_name(call), "a number made while tracing a function was used outside of it");
  for (const Arg& arg : call.args)
    if (arg.kind() == Arg::Kind::tensor && arg.tensor().impl()->is_traced())
      fail_user(op_name(call),
                "a tensor made while tracing a function was used outside of it; return it from the "
                "function instead");
  return run_now(call);
}

}  // namespace sinter
