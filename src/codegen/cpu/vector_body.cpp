// A mask that the loop bounds or the active lanes already imply emits no code.
#include "src/codegen/cpu/vector_body.h"

#include "src/base/check.h"
#include "src/codegen/analysis/limits.h"
#include "src/codegen/c_text.h"

namespace sinter {

using tile::Code;
using tile::Instr;
using tile::kNoValue;
using tile::ValueId;

// An index tile as data: i64, or narrower when it is cast at once.
std::string VectorBody::index_vector(const Affine& affine, DType dtype) const {
  const std::string_view type = compute_type(dtype);
  const std::string start = values_.offset(affine);
  if (affine.col_step.is_zero()) return fmt::format("splat({}({}))", type, start);
  const std::string step =
      affine.col_step.is_one()
          ? ""
          : fmt::format(" * splat({}({}))", type, values_.names.text(affine.col_step));
  return fmt::format("(splat({}({})) + iota_{}(){})", type, start, type, step);
}

void VectorBody::define(const Instr& instr) {
  const ValueId id = instr.results[0];
  const std::string value = values_.is_transposed(instr) ? transposed(instr) : expression(instr);
  code_.line("const auto {} = {};", values_.name(id), value);
  variables_[id] = values_.name(id);
}

std::string VectorBody::operand(ValueId id) {
  if (auto it = variables_.find(id); it != variables_.end()) return it->second;
  if (values_.is_scalar(id))
    return fmt::format("splat({}({}))", values_.type(id), values_.name(id));
  if (const auto& affine = values_.index.affine(id)) return index_vector(*affine, DType::i64);
  if (const auto& prefix = values_.index.mask(id)) {
    std::string text = mask(id);
    if (lanes_ == Lanes::first_n && prefix->col_limit && prefix->col_limit == limits_.col_limit)
      text = text.empty() ? "lanes" : fmt::format("logical_and({}, lanes)", text);
    return text.empty() ? "splat(true)" : text;
  }
  if (values_.is_row(id)) return fmt::format("splat({}[r])", values_.name(id));
  if (!scratch_.has(id)) {
    const Instr& instr = *values_.facts.definition.at(id);
    if (instr.code == Code::broadcast) return operand(instr.args[0]);
  }
  code_.line("const auto {} = load({});", values_.name(id), scratch_.address(id));
  return variables_[id] = values_.name(id);
}

std::string VectorBody::row_condition(const RangeMask& mask) const {
  std::string text;
  if (mask.row_limit) text = fmt::format("r < {}", values_.names.text(*mask.row_limit));
  if (!mask.row_first) return text;
  return fmt::format("{}r >= {}", text.empty() ? "" : text + " && ",
                     values_.names.text(*mask.row_first));
}

// A load of contiguous elements inside a range of rows and columns, which whole vectors check once;
// empty for other loads.
std::string VectorBody::load_in_range(const Instr& instr, const std::string& other) const {
  const auto& offsets = values_.index.affine(instr.args[0]);
  if (instr.args[1] == kNoValue || !offsets || !offsets->col_step.is_one()) return "";
  const auto& mask = values_.index.mask(instr.args[1]);
  if (!mask) return "";
  const RangeMask rest = beside(limits_, *mask);
  if (rest.is_unlimited()) return "";
  const auto distance = [&](const Index& bound) { return values_.names.text(bound) + " - c"; };
  const std::string first = rest.col_first ? distance(*rest.col_first) : "0";
  std::string last = lanes_ == Lanes::all ? std::to_string(values_.lanes) : "n";
  if (rest.col_limit)
    last = lanes_ == Lanes::all ? distance(*rest.col_limit)
                                : fmt::format("({0} < n ? {0} : n)", distance(*rest.col_limit));
  const std::string rows = row_condition(rest);
  if (!rows.empty()) last = fmt::format("({}) ? {} : 0", rows, last);
  return fmt::format("load_range({}, {}, {}, {})", values_.address(instr, *offsets), first, last,
                     other);
}

// Empty if the loop bounds imply the mask.
std::string VectorBody::mask(ValueId id) {
  if (id == kNoValue) return "";
  const auto& prefix = values_.index.mask(id);
  if (!prefix) return operand(id);
  const RangeMask rest = beside(limits_, *prefix);
  std::string text;
  const auto add = [&](const std::string& more) {
    text = text.empty() ? more : fmt::format("logical_and({}, {})", text, more);
  };
  const auto distance = [&](const Index& bound) { return values_.names.text(bound) + " - c"; };
  if (rest.col_limit) add(fmt::format("lanes_below({})", distance(*rest.col_limit)));
  if (rest.col_first) add(fmt::format("logical_not(lanes_below({}))", distance(*rest.col_first)));
  if (rest.row_limit || rest.row_first) add(fmt::format("splat(bool({}))", row_condition(rest)));
  return text;
}

std::string VectorBody::expression(const Instr& instr) {
  switch (instr.code) {
    case Code::pointwise:
      return pointwise(instr);
    case Code::cast:
      return cast(instr);
    case Code::broadcast:
      return operand(instr.args[0]);
    case Code::load:
      return load(instr);
    default:
      SINTER_ASSERT(false, "not an element instruction");
      return {};
  }
}

// An index is cast to i32 and to f32 without a vector of i64, which would halve the lanes.
std::string VectorBody::cast(const Instr& instr) {
  const auto& affine = values_.index.affine(instr.args[0]);
  const DType to = values_.program[instr.results[0]].dtype;
  if (affine && !values_.is_scalar(instr.args[0])) {
    if (to == DType::i32) return index_vector(*affine, to);
    if (to == DType::f32)
      return values_.cast_expression(instr,
                                     fmt::format("range_f32({}, {})", values_.offset(*affine),
                                                 values_.names.text(affine->col_step)));
  }
  return values_.cast_expression(instr, operand(instr.args[0]));
}

std::string VectorBody::pointwise(const Instr& instr) {
  if (instr.op == Op::where && values_.index.mask(instr.args[0]) && lanes_ == Lanes::all &&
      mask(instr.args[0]).empty())
    return operand(instr.args[1]);
  std::vector<std::string> args;
  for (ValueId id : instr.args) args.push_back(operand(id));
  return expression_text(instr.op, args);
}

std::string VectorBody::enabled_lanes(const std::string& mask) const {
  const std::string text = mask.empty() ? "splat(true)" : mask;
  return lanes_ == Lanes::all ? text : fmt::format("logical_and({}, lanes)", text);
}

// The transposed tile is undefined where the mask is off.
std::string VectorBody::transposed(const Instr& instr) {
  std::string value = fmt::format("load({})", scratch_.address(instr.results[0]));
  const std::string on = mask(instr.args[1]);
  if (on.empty() || instr.args[2] == kNoValue) return value;
  return fmt::format("select({}, {}, {})", on, value, operand(instr.args[2]));
}

std::string VectorBody::load(const Instr& instr) {
  const std::string on = mask(instr.args[1]);
  const std::string zero = fmt::format("{}(0)", values_.type(instr.results[0]));
  const ValueId elsewhere = instr.args[2];
  const bool has_scalar = elsewhere != kNoValue && values_.is_scalar(elsewhere);
  const std::string other = has_scalar ? values_.name(elsewhere) : zero;
  std::string value = load(instr, on, other);
  if (elsewhere == kNoValue || has_scalar || on.empty()) return value;
  return fmt::format("select({}, {}, {})", on, value, operand(elsewhere));
}

std::string VectorBody::load(const Instr& instr, const std::string& on, const std::string& other) {
  const auto& offsets = values_.index.affine(instr.args[0]);
  if (!offsets || !on.empty()) {
    if (std::string range = load_in_range(instr, other); !range.empty()) return range;
    if (offsets && offsets->col_step.is_one())
      return fmt::format("load_masked({}, {}, {})", values_.address(instr, *offsets),
                         enabled_lanes(on), other);
    return fmt::format("gather_masked({}, {}, {}, {})", values_.buffer_name(instr),
                       operand(instr.args[0]), enabled_lanes(on), other);
  }
  const std::string at = values_.address(instr, *offsets);
  const bool all = lanes_ == Lanes::all;
  if (offsets->col_step.is_zero()) return fmt::format("splat(unpack_one(*({})))", at);
  if (offsets->col_step.is_one())
    return all ? fmt::format("load({})", at) : fmt::format("load_n({}, n, {})", at, other);
  const std::string step = values_.names.text(offsets->col_step);
  return all ? fmt::format("load_strided({}, {})", at, step)
             : fmt::format("load_strided_n({}, {}, n, {})", at, step, other);
}

void VectorBody::store(const Instr& instr) {
  const std::string value = operand(instr.args[1]);
  const std::string on = mask(instr.args[2]);
  const auto& offsets = values_.index.affine(instr.args[0]);
  if (!offsets || !on.empty()) {
    if (offsets && offsets->col_step.is_one())
      return code_.line("store_masked({}, {}, {});", values_.address(instr, *offsets), value,
                        enabled_lanes(on));
    return code_.line("scatter_masked({}, {}, {}, {});", values_.buffer_name(instr),
                      operand(instr.args[0]), value, enabled_lanes(on));
  }
  const std::string at = values_.address(instr, *offsets);
  const bool all = lanes_ == Lanes::all;
  if (!offsets->col_step.is_one()) {
    const std::string step = values_.names.text(offsets->col_step);
    return all ? code_.line("store_strided({}, {}, {});", at, value, step)
               : code_.line("store_strided_n({}, {}, {}, n);", at, value, step);
  }
  if (!all) return code_.line("store_n({}, {}, n);", at, value);
  code_.line("{}({}, {});", values_.program.caching == tile::Caching::nothing ? "stream" : "store",
             at, value);
}

}  // namespace sinter
