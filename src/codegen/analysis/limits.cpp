// A limit becomes a loop bound if all masks in the loop agree on it, every effect has it, and the
// elements beyond it are dead. Loads need no mask, and may have others than their loop; reductions
// need one along the columns.
#include "src/codegen/analysis/limits.h"

#include <bit>
#include <optional>

#include "src/codegen/c_text.h"

namespace sinter {

using tile::Axis;
using tile::Code;
using tile::Instr;
using tile::kNoValue;
using tile::ValueId;

namespace {

// Distinguishes 0 and -0.
bool is_identity(const Instr& instr, ReduceKind kind, DType dtype) {
  if (instr.code != Code::constant) return false;
  const Instr neutral = identity(kind, dtype);
  if (dtype == DType::boolean) return (instr.integer != 0) == (neutral.integer != 0);
  if (!is_floating(dtype)) return instr.integer == neutral.integer;
  const auto bits = [&](double value) {
    return std::bit_cast<std::uint64_t>(Scalar::of(value).as(dtype).real);
  };
  return bits(instr.real) == bits(neutral.real);
}

// The mask of an instruction's effect: a load's or store's own mask, or that of a reduction over
// where(mask, x, identity).
ValueId guard(const CpuValues& values, const Instr& instr) {
  if (instr.code == Code::store) return instr.args[2];
  if (instr.code == Code::load) return instr.args[1];
  if (instr.code != Code::reduce) return kNoValue;
  const Instr& source = *values.facts.definition.at(instr.args[0]);
  if (source.code != Code::pointwise || source.op != Op::where) return kNoValue;
  const Instr& elsewhere = *values.facts.definition.at(source.args[2]);
  const DType dtype = values.program[instr.args[0]].dtype;
  return is_identity(elsewhere, instr.reduce_kind, dtype) ? source.args[0] : kNoValue;
}

// The limit along an axis that all masks agree on.
class Agreement {
 public:
  Agreement(const CpuValues& values, Axis axis) : values_(values), axis_(axis) {}

  void add(const Instr& instr, bool required) {
    const ValueId mask = guard(values_, instr);
    const auto* prefix =
        mask == kNoValue || !values_.index.mask(mask) ? nullptr : &*values_.index.mask(mask);
    if (!prefix || !prefix->limit(axis_)) {
      if (required || (mask != kNoValue && !prefix)) agreed_ = false;
      return;
    }
    const bool agrees = !limit_ || limit_ == prefix->limit(axis_);
    if (!agrees && !required) return;  // a load that masks its elements itself
    if (!agrees) agreed_ = false;
    limit_ = prefix->limit(axis_);
  }
  // The loop computes this value for later code.
  void leaves(ValueId id) { left_.push_back(id); }

  std::optional<Index> limit() const {
    if (!agreed_ || !limit_) return std::nullopt;
    for (ValueId id : left_)
      if (!values_.observed.ends_at(id, axis_, *limit_)) return std::nullopt;
    return limit_;
  }

 private:
  const CpuValues& values_;
  const Axis axis_;
  std::optional<Index> limit_;
  bool agreed_ = true;
  std::vector<ValueId> left_;
};

std::optional<Index> common_limit(const CpuValues& values, const Stage& stage,
                                  const std::vector<ValueId>& updated, Axis axis) {
  Agreement agreement(values, axis);
  for (const Instr* instr : stage.sinks) {
    agreement.add(*instr, instr->code == Code::store || axis == Axis::cols);
    if (axis == Axis::rows)
      for (ValueId id : instr->results) agreement.leaves(id);
  }
  for (const Instr* instr : stage.elements)
    if (instr->code == Code::load) agreement.add(*instr, false);
  for (ValueId id : stage.kept) agreement.leaves(id);
  for (ValueId id : updated) agreement.leaves(id);
  return agreement.limit();
}

}  // namespace

RangeMask row_loop_limits(const CpuValues& values, const std::vector<const Instr*>& rows) {
  Agreement agreement(values, Axis::rows);
  for (const Instr* instr : rows) {
    if (instr->code == Code::store || instr->code == Code::load)
      agreement.add(*instr, instr->code == Code::store || instr->args[1] != kNoValue);
    for (ValueId id : instr->results) agreement.leaves(id);
  }
  return {agreement.limit(), std::nullopt};
}

RangeMask element_loop_limits(const CpuValues& values, const Stage& stage,
                              const std::vector<ValueId>& updated) {
  return {common_limit(values, stage, updated, Axis::rows),
          common_limit(values, stage, updated, Axis::cols)};
}

RangeMask beside(const RangeMask& limits, const RangeMask& mask) {
  RangeMask rest = mask;
  if (rest.row_limit == limits.row_limit) rest.row_limit.reset();
  if (rest.col_limit == limits.col_limit) rest.col_limit.reset();
  return rest;
}

}  // namespace sinter
