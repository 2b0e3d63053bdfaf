// Float dtypes accept every number: beyond their range it becomes infinity, as in PyTorch.
#include "src/api/number_checks.h"

#include <cmath>
#include <limits>

#include "src/base/check.h"

namespace sinter {
namespace {

bool fits(std::int64_t value, DType dtype) {
  return dtype == DType::i64 || (value >= std::numeric_limits<std::int32_t>::min() &&
                                 value <= std::numeric_limits<std::int32_t>::max());
}

bool is_negative(const Arg& number) { return !number.is_beyond_i64() && number.integer() < 0; }

}  // namespace

std::string number_text(const Arg& number) {
  if (number.is_beyond_i64())
    return fmt::format("{}", static_cast<std::uint64_t>(number.integer()));
  if (number.kind() == Arg::Kind::real) return fmt::format("{}", number.real());
  return fmt::format("{}", number.integer());
}

void check_bools(Op op, DType promoted) {
  if (promoted != DType::boolean || info(op).rule != DTypeRule::Signed) return;
  if (op == Op::neg)
    fail_user(name_of(op), "bools cannot be negated; use logical_not (!a), or cast them");
  fail_user(name_of(op), "bools cannot be subtracted; use logical_xor, or cast them");
}

void check_numbers(Op op, std::span<const Arg> args, std::span<const DType> dtypes,
                   DType computed) {
  for (std::size_t i = 0; i < args.size(); ++i) {
    const Arg& number = args[i];
    if (number.kind() != Arg::Kind::integer || !is_integer(dtypes[i])) continue;
    if (number.number().is_traced()) continue;  // checked at each call
    if (number.is_beyond_i64())
      fail_user(name_of(op), "{} does not fit {}; cast the tensor to f64", number_text(number),
                name_of(dtypes[i]));
    if (!fits(number.integer(), dtypes[i]))
      fail_user(name_of(op), "{} does not fit {}, the type of the tensor; cast the tensor to i64",
                number_text(number), name_of(dtypes[i]));
  }
  if (args.size() != 2 || !is_integer(computed) || args[1].kind() == Arg::Kind::tensor ||
      args[1].number().is_traced())
    return;
  if ((op == Op::floor_div || op == Op::remainder) && args[1].real() == 0)
    fail_user(name_of(op), "integers cannot be divided by 0; cast the tensor to a float");
  if (op == Op::pow && is_negative(args[1]))
    fail_user(name_of(op), "{} is not an integer's exponent; cast the tensor to a float",
              number_text(args[1]));
}

void check_value(std::string_view op, const Arg& number, DType dtype) {
  if (!is_integer(dtype)) return;
  const auto fail = [&] {
    fail_user(op, "{} cannot hold {}", name_of(dtype), number_text(number));
  };
  if (number.is_beyond_i64()) fail();
  if (number.kind() != Arg::Kind::real) {
    if (!fits(number.integer(), dtype)) fail();
    return;
  }
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  const double value = number.real();
  if (!(value >= -kLimit && value < kLimit) || std::trunc(value) != value ||
      !fits(static_cast<std::int64_t>(value), dtype))
    fail();
}

}  // namespace sinter
