// Tensor factories: full(), arange() and the *_like() functions.
#include <sinter/ops.h>

#include <cmath>
#include <limits>

#include "src/api/devices.h"
#include "src/api/number_checks.h"
#include "src/api/op_call.h"
#include "src/base/check.h"

namespace sinter {
namespace {

// Null for an empty name: the device follows from the context.
std::shared_ptr<Device> device_argument(const std::string& name) {
  return name.empty() ? nullptr : open_device(name);
}

}  // namespace

Tensor full(const Shape& shape, const Arg& value, DType dtype, const std::string& device) {
  if (value.kind() == Arg::Kind::tensor) fail_user("full", "the value is a number, not a tensor");
  check_dtype("full", dtype);
  checked_numel("full", shape);
  OpCall call;
  call.op = Op::constant;
  call.device = device_argument(device);
  call.shape = shape;
  call.dtype = dtype;
  if (value.number().is_traced()) {
    call.args = {value};
    return apply(call);
  }
  check_value("full", value, dtype);
  call.value = number_of(value);
  return apply(call);
}

Tensor zeros(const Shape& shape, DType dtype, const std::string& device) {
  return full(shape, 0, dtype, device);
}
Tensor ones(const Shape& shape, DType dtype, const std::string& device) {
  return full(shape, 1, dtype, device);
}

Tensor full_like(const Tensor& a, const Arg& value, std::optional<DType> dtype) {
  const TensorImpl& impl = checked("full_like", a);
  return full(a.shape(), value, dtype.value_or(impl.dtype), impl.is_traced() ? "" : a.device());
}
Tensor zeros_like(const Tensor& a, std::optional<DType> dtype) {
  checked("zeros_like", a);
  return full_like(a, 0, dtype);
}
Tensor ones_like(const Tensor& a, std::optional<DType> dtype) {
  checked("ones_like", a);
  return full_like(a, 1, dtype);
}

namespace {

constexpr std::int64_t kMostSteps = std::int64_t{1} << 56;  // their bytes fit an int64_t

// Number of elements from start up to, not including, stop.
std::int64_t real_steps(double start, double stop, double step) {
  const double count = std::ceil((stop - start) / step);
  if (!(count < static_cast<double>(kMostSteps))) fail_user("arange", "has too many elements");
  return count > 0 ? static_cast<std::int64_t>(count) : 0;
}

std::int64_t whole_steps(std::int64_t start, std::int64_t stop, std::int64_t step) {
  if (stop == start || (stop < start) != (step < 0)) return 0;
  // Unsigned, so that distances do not overflow.
  auto distance = [](std::int64_t from, std::int64_t to) {
    return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
  };
  const std::uint64_t span = step > 0 ? distance(start, stop) : distance(stop, start);
  const std::uint64_t count = (span - 1) / (step > 0 ? distance(0, step) : distance(step, 0)) + 1;
  if (count > static_cast<std::uint64_t>(kMostSteps)) fail_user("arange", "has too many elements");
  return static_cast<std::int64_t>(count);
}

std::int64_t integer_of(const Arg& number) {
  return number.kind() == Arg::Kind::real ? static_cast<std::int64_t>(number.real())
                                          : number.integer();
}

// The number of elements depends on the numbers' values, so they are compiled in.
Arg known_number(const Arg& arg) {
  if (arg.kind() == Arg::Kind::tensor) fail_user("arange", "takes numbers, not tensors");
  if (!arg.number().is_traced()) return arg;
  if (!current_trace()) fail_user("arange", "a number made while tracing was used outside");
  return Arg(current_trace()->specialized(arg.number()));
}

void check_arange(const Arg& start, const Arg& stop, const Arg& step) {
  for (const Arg* arg : {&start, &stop, &step}) {
    if (!std::isfinite(arg->real()))
      fail_user("arange", "{} cannot be a start, stop or step", number_text(*arg));
  }
  if (step.real() == 0) fail_user("arange", "the step cannot be 0");
}

// For integers; the last element must fit too.
OpCall integer_range(const Arg& start, const Arg& stop, const Arg& step, DType dtype) {
  check_value("arange", start, dtype);
  check_value("arange", stop, DType::i64);
  check_value("arange", step, DType::i64);
  OpCall call;
  const std::int64_t first = integer_of(start), by = integer_of(step);
  const std::int64_t count = whole_steps(first, integer_of(stop), by);
  // Unsigned, since the product may wrap although the result fits.
  const auto last = static_cast<std::int64_t>(static_cast<std::uint64_t>(first) +
                                              static_cast<std::uint64_t>(count - 1) *
                                                  static_cast<std::uint64_t>(by));
  if (count > 0) check_value("arange", last, dtype);
  call.shape = {count};
  call.value = Scalar::of(first);
  call.step = Scalar::of(by);
  return call;
}

OpCall real_range(const Arg& start, const Arg& stop, const Arg& step) {
  OpCall call;
  call.shape = {real_steps(start.real(), stop.real(), step.real())};
  call.value = Scalar::of(start.real());
  call.step = Scalar::of(step.real());
  return call;
}

}  // namespace

Tensor arange(const Arg& from, const Arg& to, const Arg& by, std::optional<DType> dtype,
              const std::string& device) {
  const Arg start = known_number(from), stop = known_number(to), step = known_number(by);
  check_arange(start, stop, step);
  const auto is_whole = [](const Arg& arg) {
    return arg.kind() != Arg::Kind::real && !arg.is_beyond_i64();
  };
  const bool whole = is_whole(start) && is_whole(stop) && is_whole(step);
  const DType made = dtype.value_or(whole ? DType::i64 : DType::f32);
  if (made == DType::boolean) fail_user("arange", "cannot make bools");
  OpCall call = is_integer(made) ? integer_range(start, stop, step, made)
                : whole          ? integer_range(start, stop, step, DType::i64)
                                 : real_range(start, stop, step);
  call.op = Op::iota;
  call.device = device_argument(device);
  call.dtype = made;
  return apply(call);
}

}  // namespace sinter
