// argmax and argmin carry positions beside values, in accumulators of their own.
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
  return instr_->reduce_kind == ReduceKind::sum &&
         is_floating(values_->program[instr_->args[0]].dtype);
}

void Reduction::declare_results() const {
  for (ValueId id : instr_->results) code_->line("{};", values_->variable(id));
}

void Reduction::declare_accumulator(int number) const {
  code_->line("auto {} = splat({});", accumulator(number), identity());
  if (!is_arg(instr_->reduce_kind)) return;
  // Later than any position, so that the first element that ties with the start value wins.
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
  if (has_position) return;  // seen again, an extreme changes nothing
  code_->line("{} = splat({});", accumulator(number), identity());
}

void Reduction::step(int number, const std::string& value, const std::string& position) const {
  const std::string acc = accumulator(number);
  switch (instr_->reduce_kind) {
    case ReduceKind::sum:
      return code_->line("{} = {} + {};", acc, acc, value);
    case ReduceKind::prod:
      return code_->line("{} = {} * {};", acc, acc, value);
    case ReduceKind::max:
      return code_->line("{} = maximum({}, {});", acc, acc, value);
    case ReduceKind::min:
      return code_->line("{} = minimum({}, {});", acc, acc, value);
    default:
      return code_->line("{}_step({}, {}, {}, {});", name_of(instr_->reduce_kind), acc,
                         accumulator(number, 1), value, position);
  }
}

void Reduction::finish() const {
  constexpr std::string_view kReduce[] = {"reduce_add", "reduce_mul", "reduce_max",
                                          "reduce_min", "reduce_max", "reduce_min"};
  const std::string_view row = values_->rows(instr_->results[0]) > 1 ? "[r]" : "";
  code_->line("{}{} = {}({});", values_->name(instr_->results[0]), row,
              kReduce[static_cast<int>(instr_->reduce_kind)], accumulator(0));
  if (is_arg(instr_->reduce_kind))
    code_->line("{}{} = reduce_{}({}, {});", values_->name(instr_->results[1]), row,
                name_of(instr_->reduce_kind), accumulator(0), accumulator(0, 1));
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
