// Backward dataflow from the effects to a fixed point. Sights only grow, so it converges quickly.
#include "src/codegen/analysis/observed.h"

#include <algorithm>
#include <optional>

namespace sinter {

using tile::Axis;
using tile::Code;
using tile::Instr;
using tile::kNoValue;
using tile::ValueId;

namespace {

// Whether the limit may change between iterations of the loop.
bool varies_in(const Instr& loop, const Index& limit) {
  const auto depends_on_any = [&](const std::vector<ValueId>& ids) {
    return std::any_of(ids.begin(), ids.end(), [&](ValueId id) { return limit.depends_on(id); });
  };
  bool varies = depends_on_any(loop.body_params);
  tile::for_each_instr(loop.body, [&](const Instr& instr) {
    const bool fixed = instr.code == Code::constant || instr.code == Code::scalar ||
                       instr.code == Code::program_id;
    varies =
        varies || (!fixed && (depends_on_any(instr.results) || depends_on_any(instr.body_params)));
  });
  return varies;
}

}  // namespace

ObservedLimits::ObservedLimits(const tile::TileProgram& program, const IndexAnalysis& index)
    : index_(index), sights_(program.values.size()) {
  do {
    changed_ = false;
    visit(program.body);
  } while (changed_);
}

bool ObservedLimits::ends_at(ValueId id, Axis axis, const Index& limit) const {
  const Sight& sight = sights_[id][static_cast<std::size_t>(axis)];
  return sight.extent == Extent::nothing ||
         (sight.extent == Extent::limited && *sight.limit == limit);
}

ObservedLimits::Sight ObservedLimits::up_to(const Index* limit) {
  return {limit ? Extent::limited : Extent::everything, limit};
}

ObservedLimits::Sight ObservedLimits::joined(const Sight& a, const Sight& b) {
  if (a.extent == Extent::nothing) return b;
  return b.extent == Extent::nothing || a == b ? a : Sight{Extent::everything};
}

void ObservedLimits::see(ValueId id, Axis axis, const Sight& more) {
  if (id == kNoValue) return;
  Sight& now = sight(id, axis);
  const Sight next = joined(now, more);
  changed_ |= next != now;
  now = next;
}

const Index* ObservedLimits::limit_of(ValueId mask, Axis axis) const {
  if (mask == kNoValue || !index_.mask(mask)) return nullptr;
  const std::optional<Index>& limit = index_.mask(mask)->limit(axis);
  return limit ? &*limit : nullptr;
}

void ObservedLimits::visit(const std::vector<Instr>& block) {
  for (std::size_t i = block.size(); i-- > 0;) {
    visit(block[i].body);
    visit(block[i], Axis::rows);
    visit(block[i], Axis::cols);
  }
}

void ObservedLimits::visit(const Instr& instr, Axis axis) {
  const Sight everything{Extent::everything};
  Sight seen;  // joined sight of the results
  for (ValueId id : instr.results) seen = joined(seen, sight(id, axis));
  switch (instr.code) {
    case Code::store:
      see(instr.args[0], axis, up_to(limit_of(instr.args[2], axis)));
      see(instr.args[1], axis, up_to(limit_of(instr.args[2], axis)));
      return see(instr.args[2], axis, everything);
    case Code::load:
      return visit_load(instr, axis, seen);
    case Code::loop:
      return visit_loop(instr, axis);
    case Code::reduce:
      for (ValueId arg : instr.args) see(arg, axis, axis == Axis::rows ? seen : everything);
      return;
    default:
      break;
  }
  for (std::size_t i = 0; i < instr.args.size(); ++i) {
    const bool chosen = instr.op == Op::where && instr.code == Code::pointwise && i == 1;
    const Index* limit = chosen ? limit_of(instr.args[0], axis) : nullptr;
    const bool cut = seen.extent == Extent::everything && limit;
    see(instr.args[i], axis, cut ? up_to(limit) : seen);
  }
}

// Addresses are live even if the loaded value is dead.
void ObservedLimits::visit_load(const Instr& instr, Axis axis, const Sight& seen) {
  see(instr.args[0], axis, up_to(limit_of(instr.args[1], axis)));
  see(instr.args[1], axis, Sight{Extent::everything});
  see(instr.args[2], axis, seen);
}

// A loop's initial value, carried value, yield and result are treated as one value.
void ObservedLimits::visit_loop(const Instr& loop, Axis axis) {
  for (std::size_t i = 0; i < loop.results.size(); ++i) {
    const ValueId carried = loop.body_params[i + 1];
    Sight seen = joined(sight(carried, axis), sight(loop.results[i], axis));
    if (seen.extent == Extent::limited && varies_in(loop, *seen.limit))
      seen = Sight{Extent::everything};
    for (ValueId id : {carried, loop.results[i], loop.args[3 + i], loop.body_yields[i]})
      see(id, axis, seen);
  }
}

}  // namespace sinter
