// Pointwise operations and tensors made from nothing. The functions of ops.def are generated here.
#include <sinter/ops.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "src/api/devices.h"
#include "src/api/op_call.h"
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
  if (checked("cast", a.tensor()).dtype == dtype) return a.tensor();
  OpCall call;
  call.op = Op::cast;
  call.args = {a};
  call.shape = a.tensor().shape();
  call.dtype = dtype;
  return apply(call);
}

Tensor gelu(const Arg& a, GeluForm form) {
  return form == GeluForm::erf ? gelu_erf(a) : gelu_tanh(a);
}

namespace {

// None given: where the operation runs is known by others.
std::shared_ptr<Device> device_argument(const std::string& name) {
  return name.empty() ? nullptr : open_device(name);
}

}  // namespace

Tensor full(const Shape& shape, const Arg& value, DType dtype, const std::string& device) {
  if (value.kind() == Arg::Kind::tensor) fail_user("full", "the value is a number, not a tensor");
  checked_numel("full", shape);
  OpCall call;
  call.op = Op::constant;
  call.device = device_argument(device);
  call.shape = shape;
  call.dtype = dtype;
  call.value =
      value.kind() == Arg::Kind::real ? Scalar::of(value.real()) : Scalar::of(value.integer());
  return apply(call);
}

Tensor zeros(const Shape& shape, DType dtype, const std::string& device) {
  return full(shape, 0, dtype, device);
}
Tensor ones(const Shape& shape, DType dtype, const std::string& device) {
  return full(shape, 1, dtype, device);
}

namespace {

constexpr std::int64_t kMostSteps = std::int64_t{1} << 60;

// How many steps lead from start to before stop.
std::int64_t real_steps(double start, double stop, double step) {
  const double count = std::ceil((stop - start) / step);
  if (!(count < static_cast<double>(kMostSteps))) fail_user("arange", "has too many elements");
  return count > 0 ? static_cast<std::int64_t>(count) : 0;
}

std::int64_t whole_steps(std::int64_t start, std::int64_t stop, std::int64_t step) {
  if (stop == start || (stop < start) != (step < 0)) return 0;
  // Unsigned, where distances do not overflow.
  auto distance = [](std::int64_t from, std::int64_t to) {
    return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
  };
  const std::uint64_t span = step > 0 ? distance(start, stop) : distance(stop, start);
  const std::uint64_t count = (span - 1) / (step > 0 ? distance(0, step) : distance(step, 0)) + 1;
  if (count > static_cast<std::uint64_t>(kMostSteps)) fail_user("arange", "has too many elements");
  return static_cast<std::int64_t>(count);
}

}  // namespace

Tensor arange(const Arg& start, const Arg& stop, const Arg& step, std::optional<DType> dtype,
              const std::string& device) {
  for (const Arg* arg : {&start, &stop, &step})
    if (arg->kind() == Arg::Kind::tensor) fail_user("arange", "takes numbers, not tensors");
  if (step.real() == 0) fail_user("arange", "the step cannot be 0");
  const bool whole = start.kind() != Arg::Kind::real && stop.kind() != Arg::Kind::real &&
                     step.kind() != Arg::Kind::real;
  const std::int64_t count = whole ? whole_steps(start.integer(), stop.integer(), step.integer())
                                   : real_steps(start.real(), stop.real(), step.real());
  auto scalar = [&](const Arg& arg) {
    return whole ? Scalar::of(arg.integer()) : Scalar::of(arg.real());
  };
  OpCall call;
  call.op = Op::iota;
  call.device = device_argument(device);
  call.shape = {count};
  call.dtype = dtype.value_or(whole ? DType::i64 : DType::f32);
  if (call.dtype == DType::boolean) fail_user("arange", "cannot make bools");
  if (!is_floating(call.dtype) && !whole)
    fail_user("arange", "{} cannot hold steps of a fraction", name_of(call.dtype));
  call.value = scalar(start);
  call.step = scalar(step);
  return apply(call);
}

}  // namespace sinter
