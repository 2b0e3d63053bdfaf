// The op table as data, and the dtype rules.
#include "src/graph/op.h"

#include "src/base/check.h"

namespace sinter {
namespace {

constexpr OpInfo kInfos[] = {
    {.name = "input"},
    {.name = "constant"},
    {.name = "number"},
    {.name = "iota"},
#define SINTER_POINTWISE(op_name, op_arity, op_rule, op_cost, ...) \
  {.name = #op_name,                                               \
   .arity = op_arity,                                              \
   .rule = DTypeRule::op_rule,                                     \
   .cost = op_cost,                                                \
   .expression = #__VA_ARGS__},
#include <sinter/ops.def>
#undef SINTER_POINTWISE
    {.name = "cast", .arity = 1, .cost = 1},
    {.name = "reduce", .arity = 1, .cost = 1},
    {.name = "contract", .arity = 2, .cost = 2},
    {.name = "concat"},
};

DType floating(DType dtype) { return is_floating(dtype) ? dtype : DType::f32; }
DType number(DType dtype) { return dtype == DType::boolean ? DType::i64 : dtype; }

}  // namespace

const OpInfo& info(Op op) { return kInfos[static_cast<int>(op)]; }

std::string_view name_of(Op op) { return info(op).name; }

OpTypes op_types(Op op, std::span<const DType> operands) {
  const DTypeRule rule = info(op).rule;
  const std::size_t first = rule == DTypeRule::Select ? 1 : 0;
  DType promoted = operands[first];
  for (std::size_t i = first + 1; i < operands.size(); ++i)
    promoted = promote(promoted, operands[i]);
  DType result = DType::boolean;
  switch (rule) {
    case DTypeRule::Same:
    case DTypeRule::Ring:
    case DTypeRule::Signed:
    case DTypeRule::Whole:
    case DTypeRule::Select:
      result = promoted;
      break;
    case DTypeRule::Number:
      result = promoted = number(promoted);
      break;
    case DTypeRule::Floating:
      result = promoted = floating(promoted);
      break;
    case DTypeRule::Compare:
      break;
    case DTypeRule::Logical:
      promoted = DType::boolean;
      break;
    case DTypeRule::Test:
      promoted = floating(promoted);
      break;
  }
  OpTypes types{{promoted, promoted, promoted}, result};
  if (rule == DTypeRule::Select) types.operands[0] = DType::boolean;
  return types;
}

Op op_on(Op op, DType operands) {
  const DTypeRule rule = info(op).rule;
  if (rule == DTypeRule::Whole && !is_floating(operands)) return Op::copy;
  if (rule == DTypeRule::Ring && operands == DType::boolean)
    return op == Op::add ? Op::logical_or : op == Op::mul ? Op::logical_and : Op::copy;
  return op;
}

}  // namespace sinter
