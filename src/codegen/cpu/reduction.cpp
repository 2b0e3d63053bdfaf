// argmax and argmin have separate accumulators for values and positions.
#include "src/codegen/cpu/reduction.h"

#include "src/codegen/c_text.h"

namespace sinter {

using tile::ValueId;

std::string Reduction::accumulator(int number, std::size_t result) const {
  const ValueId id = instr_->results[result];
  return number == 0 ? fmt::format("acc{}", id) : fmt::format("acc{}_{}", id, number);
}

std::string Reduction::identity() const {
  return identity_text(instr_->reduce_kind, values_->program[instr_->args[0]].dtype);
}

bool Reduction::is_float_sum() const {
  return info(instr_->reduce_kind).combine == Op::add &&
         is_floating(values_->program[instr_->args[0]].dtype);
}

void Reduction::declare_results() const {
  for (ValueId id : instr_->results) code_->line("{};", values_->variable(id));
}

void Reduction::declare_accumulator(int number) const {
  code_->line("auto {} = splat({});", accumulator(number), identity());
  if (!is_arg(instr_->reduce_kind)) return;
  // Larger than any position, so that the first element that ties with the initial value wins.
  code_->line("auto {} = splat({});", accumulator(number, 1),
              identity_text(ReduceKind::min, values_->program[instr_->args[1]].dtype));
}

void Reduction::step(VectorBody& body, int number) const {
  std::string value = body.operand(instr_->args[0]);
  if (body.lanes() == Lanes::first_n)
    value = fmt::format("select(lanes, {}, splat({}))", value, identity());
  step(number, value, is_arg(instr_->reduce_kind) ? body.operand(instr_->args[1]) : "");
}

void Reduction::merge(int number) const {
  const bool has_position = is_arg(instr_->reduce_kind);
  step(0, accumulator(number), has_position ? accumulator(number, 1) : "");
  if (has_position) return;  // idempotent: merging an extreme twice changes nothing
  code_->line("{} = splat({});", accumulator(number), identity());
}

void Reduction::step(int number, const std::string& value, const std::string& position) const {
  const std::string acc = accumulator(number);
  if (is_arg(instr_->reduce_kind)) {
    code_->line("take_better<{}>({}, {}, {}, {});", reduction_name(instr_->reduce_kind), acc,
                accumulator(number, 1), value, position);
    return;
  }
  const std::string both[] = {acc, value};
  code_->line("{} = {};", acc, expression_text(info(instr_->reduce_kind).combine, both));
}

void Reduction::finish() const {
  const std::string_view row = values_->rows(instr_->results[0]) > 1 ? "[r]" : "";
  code_->line("{}{} = reduce_lanes<{}>({});", values_->name(instr_->results[0]), row,
              reduction_name(value_kind(instr_->reduce_kind)), accumulator(0));
  if (is_arg(instr_->reduce_kind))
    code_->line("{}{} = reduce_positions<{}>({}, {});", values_->name(instr_->results[1]), row,
                reduction_name(instr_->reduce_kind), accumulator(0), accumulator(0, 1));
}

void Reduction::declare_total() const {
  code_->line("auto total{} = splat({});", instr_->results[0], identity());
}

void Reduction::put_away() const {
  const ValueId id = instr_->results[0];
  code_->line("total{} = total{} + acc{};", id, id, id);
  code_->line("acc{} = splat({});", id, identity());
}

void Reduction::take_total() const {
  const ValueId id = instr_->results[0];
  code_->line("acc{} = acc{} + total{};", id, id, id);
}

}  // namespace sinter
