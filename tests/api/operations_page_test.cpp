// docs/OPERATIONS.md, generated from the op table and the dtype rules. The test fails if the page
// is out of date, and prints the command to regenerate it.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "src/graph/reduction.h"
#include "tests/support/op_table.h"

namespace sinter::testing {
namespace {

constexpr Op kTableOps[] = {
#define SINTER_POINTWISE(name, arity, rule, cost, ...) Op::name,
#include <sinter/ops.def>
#undef SINTER_POINTWISE
};

// Notes on behaviour that the rules do not cover.
const std::map<Op, std::string>& notes() {
  static const std::map<Op, std::string> table{
      {Op::copy, "`contiguous(a)` copies only if needed"},
      {Op::add, "`a + b`; integers wrap; for bools `logical_or`"},
      {Op::sub, "`a - b`; integers wrap; for bools use `logical_xor`"},
      {Op::mul, "`a * b`; integers wrap; for bools `logical_and`"},
      {Op::div, "`a / b`; true division: x/0 is an infinity, 0/0 NaN"},
      {Op::floor_div,
       "rounded down; floats: x/0 is an infinity or NaN; integers: 0 in a tensor of divisors gives "
       "0, "
       "the number 0 is an error"},
      {Op::remainder,
       "`a % b`; the sign of b; floats: NaN for b = 0; integers: 0 in a tensor of divisors gives "
       "0, "
       "the number 0 is an error"},
      {Op::pow,
       "integers wrap on overflow; a negative exponent in a tensor gives 0, unless the base is 1 "
       "or "
       "-1; a negative number is an error; a number with a fraction makes it f32"},
      {Op::maximum, "NaN wins"},
      {Op::minimum, "NaN wins"},
      {Op::fma, "a b + c, rounded once"},
      {Op::clamp, "a between b and c; NaN wins; c if b is greater"},
      {Op::neg, "`-a`; the least integer stays; for bools use `logical_not`"},
      {Op::abs, "the least integer and bools stay"},
      {Op::sign, "-1, 0 or 1; NaN and bools stay"},
      {Op::square, "a a; integers wrap"},
      {Op::reciprocal, "1/0 is an infinity"},
      {Op::floor, "integers and bools stay what they are"},
      {Op::ceil, "integers and bools stay what they are"},
      {Op::round, "halves to even; integers and bools stay what they are"},
      {Op::trunc, "integers and bools stay what they are"},
      {Op::sqrt, "NaN below 0"},
      {Op::rsqrt, "NaN below 0, an infinity at 0"},
      {Op::log, "NaN below 0, minus infinity at 0"},
      {Op::log2, "NaN below 0, minus infinity at 0"},
      {Op::log10, "NaN below 0, minus infinity at 0"},
      {Op::log1p, "log(1 + a), exact for small a"},
      {Op::expm1, "exp(a) - 1, exact for small a"},
      {Op::asin, "NaN beyond -1 and 1"},
      {Op::acos, "NaN beyond -1 and 1"},
      {Op::acosh, "NaN below 1"},
      {Op::atanh, "NaN beyond -1 and 1"},
      {Op::relu, "NaN stays"},
      {Op::leaky_relu, "b is the slope below 0"},
      {Op::gelu_tanh, "`gelu(a, GeluForm::tanh)`"},
      {Op::gelu_erf, "`gelu(a)`"},
      {Op::eq, "`a == b`; NaN equals nothing"},
      {Op::ne, "`a != b`; NaN differs from everything"},
      {Op::lt, "`a < b`; false for NaN"},
      {Op::le, "`a <= b`; false for NaN"},
      {Op::gt, "`a > b`; false for NaN"},
      {Op::ge, "`a >= b`; false for NaN"},
      {Op::logical_and, "`a && b`; anything but 0 is true, NaN included"},
      {Op::logical_or, "`a || b`; anything but 0 is true, NaN included"},
      {Op::logical_xor, "anything but 0 is true, NaN included"},
      {Op::logical_not, "`!a`; anything but 0 is true, NaN included"},
      {Op::where, "b where a is true, else c; NaN in the other one has no effect"},
  };
  return table;
}

std::string_view rule_name(DTypeRule rule) {
  switch (rule) {
    case DTypeRule::Same:
      return "Same";
    case DTypeRule::Number:
      return "Number";
    case DTypeRule::Ring:
      return "Ring";
    case DTypeRule::Signed:
      return "Signed";
    case DTypeRule::Whole:
      return "Whole";
    case DTypeRule::Floating:
      return "Floating";
    case DTypeRule::Compare:
      return "Compare";
    case DTypeRule::Logical:
      return "Logical";
    case DTypeRule::Test:
      return "Test";
    case DTypeRule::Select:
      return "Select";
  }
  return "";
}

// The op's result dtype for operands of one dtype.
std::string result_text(Op op, DType dtype) {
  if (info(op).rule == DTypeRule::Signed && dtype == DType::boolean) return "error";
  const std::vector<DType> operands(static_cast<std::size_t>(info(op).arity), dtype);
  return std::string(name_of(op_types(op, operands).result));
}

// The same for all floats: their own dtype, or bool.
std::string floats_text(Op op) {
  bool keeps = true;
  for (DType dtype : kFloatDTypes) keeps = keeps && result_text(op, dtype) == name_of(dtype);
  return keeps ? "same" : result_text(op, DType::f32);
}

std::string pointwise_table() {
  std::string text =
      "| operation | rule | floats | i32 | i64 | bool | notes |\n|---|---|---|---|---|---|---|\n";
  for (Op op : kTableOps) {
    constexpr std::string_view kArguments[] = {"", "a", "a, b", "a, b, c"};
    const auto note = notes().find(op);
    text += fmt::format("| `{}({})` | {} | {} | {} | {} | {} | {} |\n", name_of(op),
                        kArguments[info(op).arity], rule_name(info(op).rule), floats_text(op),
                        result_text(op, DType::i32), result_text(op, DType::i64),
                        result_text(op, DType::boolean), note == notes().end() ? "" : note->second);
  }
  return text;
}

std::string promotion_table() {
  std::string text = "| |";
  for (DType dtype : kAllDTypes) text += fmt::format(" {} |", name_of(dtype));
  text += "\n|---|";
  for (int i = 0; i < kDTypeCount; ++i) text += "---|";
  for (DType a : kAllDTypes) {
    text += fmt::format("\n| **{}** |", name_of(a));
    for (DType b : kAllDTypes) text += fmt::format(" {} |", name_of(promote(a, b)));
  }
  return text + "\n";
}

const std::map<ReduceKind, std::string>& reduction_notes() {
  static const std::map<ReduceKind, std::string> table{
      {ReduceKind::sum, "integers wrap"},
      {ReduceKind::prod, "integers wrap"},
      {ReduceKind::max, "NaN wins"},
      {ReduceKind::min, "NaN wins"},
      {ReduceKind::argmax, "the first one; NaN wins"},
      {ReduceKind::argmin, "the first one; NaN wins"},
  };
  return table;
}

std::string reduction_row(ReduceKind kind) {
  const auto result = [&](DType dtype) { return name_of(reduce_dtype(kind, dtype)); };
  const bool keeps = reduce_dtype(kind, DType::f16) == DType::f16;
  const std::string empty =
      is_defined_for_nothing(kind) ? to_string(identity_of(kind, DType::i64)) : "error";
  const auto note = reduction_notes().find(kind);
  return fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |\n", name_of(kind),
                     keeps ? "same" : result(DType::f16), result(DType::i32), result(DType::i64),
                     result(DType::boolean), empty,
                     note == reduction_notes().end() ? "" : note->second);
}

std::string reduction_table() {
  std::string text =
      "| reduction | floats | i32 | i64 | bool | empty | notes |\n"
      "|---|---|---|---|---|---|---|\n";
#define SINTER_REDUCTION(name, identity, combine, dtype, finish) \
  text += reduction_row(ReduceKind::name);
#include <sinter/reductions.def>
#undef SINTER_REDUCTION
  return text +
         "| `any` | bool | bool | bool | bool | false | everything but 0 is true |\n"
         "| `all` | bool | bool | bool | bool | true | everything but 0 is true |\n"
         "| `mean` | same | f32 | f32 | f32 | NaN | |\n"
         "| `var`, `std` | same | f32 | f32 | f32 | NaN | divided by count - correction |\n"
         "| `logsumexp` | same | f32 | f32 | f32 | minus infinity | does not overflow |\n";
}

constexpr std::string_view kRewrite =
    "SINTER_SOURCE_DIR=. SINTER_REWRITE_DOCS=1 build/release/tests/test_api "
    "--gtest_filter=OperationsPage.*";

std::string page() {
  std::string text = fmt::format(
      "# Operations and their dtypes\n\n"
      "<!-- Written by tests/api/operations_page_test.cpp from include/sinter/ops.def. Do not "
      "edit:\n"
      "{}\n-->\n\n",
      kRewrite);
  text +=
      "Operations on tensors run at once; operations on the arguments that `compile()` passes in "
      "are\n"
      "recorded. Shapes broadcast. Negative axes count from the end.\n\n"
      "## Operands of several dtypes\n\n"
      "Operands are first converted to one dtype:\n\n";
  text += promotion_table();
  text +=
      "\nA number (`x * 2`, `maximum(x, 0.5)`) takes the dtype of the tensors beside it, with two\n"
      "exceptions: a C++ floating-point number turns integers and bools into f32, and an integer "
      "turns\nbools into i64. An integer that does not fit its integer dtype is a `UserError`; a "
      "number "
      "beyond\na float dtype's range becomes infinity. `full()` and `arange()` refuse values that "
      "an "
      "integer\ndtype cannot hold exactly.\n\n"
      "With 16-bit floats a number keeps f32 precision in arithmetic, as in PyTorch: `x * 0.1` "
      "multiplies\nby 0.1f. The same holds in `minimum`, `maximum`, `clamp` and `where`. Results "
      "are "
      "rounded when they\nare stored: outside `compile()` after each operation; inside, where the "
      "function returns or casts\nthem, and after each operation with `emulate_eager_rounding`. In "
      "a "
      "comparison a number is rounded to\nthe tensor's dtype, so that `full({}, 0.1, f16) == 0.1` "
      "holds.\n\n"
      "## Pointwise operations\n\n"
      "The columns give the result's dtype for operands of that dtype; *same* is the operands' "
      "own. "
      "16-bit\nfloats are computed in f32. [ops.def](../include/sinter/ops.def) explains the "
      "rules.\n\n";
  text += pointwise_table();
  text +=
      "\n`cast(a, dtype)` converts. Floats become integers by truncation: NaN gives 0, "
      "out-of-range "
      "values\ngive the nearest integer. Integers that become narrower keep their low bits. "
      "Everything but 0 becomes\n`true`.\n\n"
      "## Reductions\n\n"
      "Over any axes; an empty list means all of them. `keepdim` keeps reduced axes with size "
      "1.\n\n";
  text += reduction_table();
  text +=
      "\n`softmax`, `log_softmax`, `layer_norm` and `rms_norm` keep float dtypes and return f32 "
      "for "
      "everything\nelse; they compute in f32, or in f64 for f64. `matmul` promotes floats, sums in "
      "f32 (f64 for f64) and\nrounds once; integers and bools are errors.\n\n"
      "## Views and copies\n\n"
      "These keep the dtype and move no data if a view is possible: `reshape`, `flatten`, "
      "`permute`,\n"
      "`transpose`, `slice`, `pad`, `x[i]`, `flip`, `chunk`, `split`, `squeeze`, `unsqueeze`, "
      "`expand`,\n"
      "`broadcast_to`, `broadcast`, `contiguous`. `concat` and `stack` promote. A slice with a "
      "negative step,\n`flip` and `pad` copy outside `compile()` and are views inside.\n";
  return text;
}

TEST(OperationsPage, IsUpToDate) {
  const char* source = std::getenv("SINTER_SOURCE_DIR");
  if (!source) GTEST_SKIP() << "needs SINTER_SOURCE_DIR";
  const std::string path = std::string(source) + "/docs/OPERATIONS.md";
  if (std::getenv("SINTER_REWRITE_DOCS")) std::ofstream(path) << page();
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_TRUE(text.str() == page()) << "docs/OPERATIONS.md is out of date; write it anew:\n"
                                    << kRewrite;
}

TEST(OperationsPage, SaysWhatTheOperationsGive) {
  for (const OpRow& row : op_table())
    for (DType dtype : kAllDTypes) {
      const Op op = kTableOps[&row - op_table().data()];
      const std::string want =
          takes(row, dtype) ? std::string(name_of(expected_dtype(row.rule, dtype))) : "error";
      EXPECT_EQ(result_text(op, dtype), want) << row.name;
    }
}

}  // namespace
}  // namespace sinter::testing
