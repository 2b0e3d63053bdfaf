// A thread keeps one partial result per vector element, so that many additions are independent.
#include "src/codegen/cuda/reduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace sinter {

CudaReduction::CudaReduction(const CudaValues& values, CWriter& code, const tile::Instr& instr,
                             std::string packed_type)
    : values_(values),
      vectors_(values, code),
      code_(code),
      instr_(&instr),
      name_(values.name(instr.results[0])),
      packed_type_(std::move(packed_type)) {}

// A maximum or minimum of 16-bit floats is one of them, so nothing is rounded.
bool CudaReduction::can_reduce_packed(const tile::Instr& instr) {
  const Op combine = info(instr.reduce_kind).combine;
  return combine == Op::maximum || combine == Op::minimum;
}

std::string CudaReduction::kind() const { return reduction_name(instr_->reduce_kind); }

std::string CudaReduction::type() const {
  const std::string_view value = compute_type(values_.program[instr_->args[0]].dtype);
  if (!is_arg(instr_->reduce_kind)) return std::string(value);
  return fmt::format("Placed<{}, {}>", value, compute_type(values_.program[instr_->args[1]].dtype));
}

// Its position is the largest possible, so that any element precedes it.
std::string CudaReduction::identity() const {
  std::string value = identity_text(instr_->reduce_kind, values_.program[instr_->args[0]].dtype);
  if (!is_arg(instr_->reduce_kind)) return value;
  return fmt::format("{}{{{}, {}}}", type(), value,
                     identity_text(ReduceKind::min, values_.program[instr_->args[1]].dtype));
}

std::string CudaReduction::part_index() const {
  return flat_index_text({{"r", row_steps()}, {"v", values_.layout.vector()}});
}

std::string CudaReduction::first_part() const {
  return fmt::format("{}_part[{}]", name_,
                     flat_index_text({{"r", row_steps()}, {"", values_.layout.vector()}}));
}

void CudaReduction::declare_parts() const {
  const int count = row_steps() * values_.layout.vector();
  code_.line("{} {}_part[{}];", type(), name_, count);
  if (reduces_packed()) {
    code_.line("{} {}_packed[{}];", packed_type_, name_, row_steps());
    code_.line("SN_UNROLL for (int r = 0; r < {}; ++r) set_all<{}>({}_packed[r], {});", row_steps(),
               values_.layout.vector(), name_, identity());
  } else {
    code_.line("SN_UNROLL for (int i = 0; i < {}; ++i) {}_part[i] = {};", count, name_, identity());
  }
  for (tile::ValueId id : instr_->results)
    code_.line("{} {}{};", values_.type(id), values_.name(id),
               row_steps() > 1 ? fmt::format("[{}]", row_steps()) : "");
}

// Whether positions are those of the columns, which a thread visits in ascending order.
bool CudaReduction::visits_in_order() const {
  if (!is_arg(instr_->reduce_kind)) return false;
  tile::ValueId position = instr_->args[1];
  const auto definition = values_.facts.definition.find(position);
  if (definition != values_.facts.definition.end() && definition->second->code == tile::Code::cast)
    position = definition->second->args[0];
  const auto& index = values_.index.affine(position);
  return index && index->col_step.is_one();
}

void CudaReduction::accumulate(const std::vector<std::string>& entering,
                               const std::string& where) const {
  if (visits_in_order()) {  // the first element replaces the identity
    const std::string part = fmt::format("{}_part[{}]", name_, part_index());
    const std::string element = fmt::format("{}{{{}, {}}}", type(), entering[0], entering[1]);
    code_.line("{}{} = {};", where.empty() ? "" : fmt::format("if ({}) ", where), part,
               values_.layout.col_steps(shape()) == 1
                   ? element
                   : fmt::format("k == 0 ? {} : {}::next({}, {})", element, kind(), part, element));
    return;
  }
  combine(fmt::format("{}_part[{}]", name_, part_index()),
          entering.size() == 1 ? fmt::format("{}({})", type(), entering[0])
                               : fmt::format("{}{{{}, {}}}", type(), entering[0], entering[1]),
          where);
}

std::string CudaReduction::packed_text() const {
  return fmt::format("{}_packed[{}]", name_, row_steps() > 1 ? "r" : "0");
}

void CudaReduction::accumulate_packed(const std::string& entering, const std::string& where) const {
  combine(packed_text(), entering, where);
}

void CudaReduction::combine(const std::string& part, const std::string& value,
                            const std::string& where) const {
  code_.line("{}{} = {}::combine({}, {});", where.empty() ? "" : fmt::format("if ({}) ", where),
             part, kind(), part, value);
}

void CudaReduction::reduce_warp() const {
  vectors_.open_rows(shape());
  const int vector = values_.layout.vector();
  if (reduces_packed())
    code_.line("SN_UNROLL for (int v = 0; v < {}; ++v) {}_part[{}] = element({}, v);", vector,
               name_, part_index(), packed_text());
  const std::string part = first_part();
  for (int step = vector / 2; step > 0; step /= 2)
    code_.line(
        "SN_UNROLL for (int v = 0; v < {0}; ++v) {1}_part[{2}] = {3}::combine({1}_part[{2}], "
        "{1}_part[{2} + {0}]);",
        step, name_, part_index(), kind());
  code_.line("{} = reduce_lanes<{}, {}>({});", part, kind(),
             std::min(tile::kWarpThreads, values_.layout.threads_per_row()), part);
  if (!values_.layout.needs_slots()) set_results(part);
  code_.close();
}

std::string CudaReduction::slots() const {
  return is_arg(instr_->reduce_kind) ? fmt::format("{0}_slots, {0}_indices", name_)
                                     : name_ + "_slots";
}

std::string CudaReduction::slot_row() const {
  const std::string row = row_steps() > 1
                              ? fmt::format("r * {} + thread_row", values_.layout.thread_rows())
                              : "thread_row";
  return values_.layout.is_persistent()
             ? fmt::format("turn * {} + {}", values_.layout.slot_rows(shape()), row)
             : row;
}

std::vector<DType> CudaReduction::slot_types() const {
  std::vector<DType> types{values_.program[instr_->args[0]].dtype};
  if (is_arg(instr_->reduce_kind)) types.push_back(values_.program[instr_->args[1]].dtype);
  return types;
}

int CudaReduction::slot_bytes() const {
  const int slots = values_.layout.slots(shape());
  int bytes = 0;
  for (DType type : slot_types())
    bytes += slots * (type == DType::boolean ? 4 : static_cast<int>(size_of(type)));
  return bytes;
}

void CudaReduction::put_parts(const std::string& exchange) const {
  const int group = values_.layout.threads_per_row();
  const int rows = values_.layout.slot_turns() * values_.layout.slot_rows(shape());
  const char* array = "slots";
  for (DType type : slot_types())
    code_.line("SN_SHARED(Slot<{}>, {}_{}, {} * kSlots<{}>);", compute_type(type), name_,
               std::exchange(array, "indices"), rows, group);
  vectors_.open_rows(shape());
  code_.line("{}<{}>({}, {}, {}{});", exchange.empty() ? "put_part" : "bring_part", group, slots(),
             slot_row(), first_part(), exchange.empty() ? "" : ", " + exchange);
  code_.close();
}

void CudaReduction::take_parts() const {
  vectors_.open_rows(shape());
  code_.line("const {} whole = take_parts<{}, {}>({}, {}, {});", type(), kind(),
             values_.layout.threads_per_row(), slots(), slot_row(), identity());
  set_results("whole");
  code_.close();
}

void CudaReduction::set_results(const std::string& value) const {
  constexpr const char* kMembers[] = {".value", ".position"};
  for (std::size_t i = 0; i < instr_->results.size(); ++i)
    code_.line("{}{} = {}{};", values_.name(instr_->results[i]), row_steps() > 1 ? "[r]" : "",
               value, is_arg(instr_->reduce_kind) ? kMembers[i] : "");
}

}  // namespace sinter
