// Emits parameters first, then the tile's position for the program id, then values on demand.
#include "src/lower/group_values.h"

#include <algorithm>
#include <limits>

#include "src/base/check.h"
#include "src/base/rounding.h"
#include "src/lower/power.h"
#include "src/lower/row_alignment.h"

namespace sinter {

using tile::Axis;
using tile::kNoValue;
using tile::ValueId;

namespace {

// "max_sub_exp_sum_div": names the operations, so that profiles are readable.
std::string kernel_name(const Plan& plan, const FusionGroup& group) {
  constexpr std::size_t kLongest = 64;
  std::string name;
  for (NodeId id : group.nodes) {
    const Node& node = plan.graph[id];
    const std::string_view op = name_of(node);
    if (name.size() + op.size() + 6 > kLongest) return name + "_more";
    name += name.empty() ? "" : "_";
    name += op;
  }
  return name;
}

// "in0": cheaper than formatting, for the names of all parameters.
std::string numbered(std::string_view name, std::int64_t number) {
  std::string text(name);
  return text += std::to_string(number);
}

// Whether a range's elements are their own indices.
bool counts_indices(const Node& range) {
  return range.op == Op::iota && !range.value.is_real && !range.step.is_real &&
         range.value.integer == 0 && range.step.integer == 1;
}

}  // namespace

GroupValues::GroupValues(const Plan& plan, GroupId group, const IterationSpace& space,
                         const Tiling& tiling)
    : plan_(plan),
      index_of_group_(group),
      group_(plan.groups[group]),
      space_(space),
      tiling_(tiling),
      b_(kernel_name(plan, group_)),
      times_read_(space.accesses.size(), 0) {
  declare_parameters();
  locate_program();
}

Kernel GroupValues::finish() {
  b_.set_caching(tiling_.caching);
  tiling_.mapping.wide_index = needs_wide_index();
  b_.set_mapping(tiling_.mapping);
  kernel_.body = b_.finish();
  return std::move(kernel_);
}

bool GroupValues::in_group(NodeId id) const { return plan_.group_of[id] == index_of_group_; }

bool GroupValues::col_is_reduced() const {
  return tiling_.col_axis >= 0 && space_.is_reduced(tiling_.col_axis);
}

void GroupValues::forget_inner() {
  uneven_.clear();
  inner_.clear();
  loads_.clear();
}

void GroupValues::forget_loads() { loads_.clear(); }

// Whether an offset, or any term of one, may not fit 32 bits.
bool GroupValues::needs_wide_index() const {
  const ById<tile::ScalarId, tile::ScalarParam>& params = b_.program().scalars;
  for (std::size_t i = 0; i < params.size(); ++i)
    if (params[i].dtype == DType::i64 && (kernel_.scalars[i].bits >= kMostNarrowOffset ||
                                          kernel_.scalars[i].bits <= -kMostNarrowOffset))
      return true;
  // i64 constants are data, not offsets: arithmetic on them may need all 64 bits.
  for (const auto& [id, value] : constants_)
    if (graph()[id].dtype == DType::i64) return true;
  ByAxis<std::int64_t> sizes;  // plus the overhang of the last tile
  for (AxisId axis = 0; axis < space_.axes.end_id(); ++axis)
    sizes.push_back(size(axis) + (axis == tiling_.col_axis   ? tiling_.tile_cols
                                  : axis == tiling_.row_axis ? tiling_.tile_rows
                                                             : 1));
  return std::any_of(space_.accesses.begin(), space_.accesses.end(), [&](const Access& access) {
    const Node& node = graph()[access.node];
    const bool is_data = node.op == Op::iota || !access.windows.empty();
    return (is_data && node.dtype == DType::i64) || needs_wide_offsets(access, sizes);
  });
}

// --- parameters ---------------------------------------------------------------------------------

ValueId GroupValues::scalar_param(const std::string& name, std::int64_t value) {
  kernel_.scalars.push_back(KernelScalar::of(value));
  return b_.add_scalar(name, DType::i64);
}

// A size or stride. GPU kernels are specialized on whether the vector width divides it.
ValueId GroupValues::extent_param(const std::string& name, std::int64_t value,
                                  std::int64_t at_least) {
  kernel_.scalars.push_back(KernelScalar::of(value));
  const int vector = for_gpu() ? tiling_.mapping.vector : 1;
  return b_.add_scalar(
      {.name = name, .multiple_of = value % vector == 0 ? vector : 1, .at_least = at_least});
}

// The least size of an axis whose tiling is this one: a row in one tile fills all but the last
// vectors of its threads, which therefore need no mask.
std::int64_t GroupValues::least_size(AxisId axis) const {
  const tile::Mapping& mapping = tiling_.mapping;
  if (!for_gpu() || axis != tiling_.col_axis || mapping.threads_per_row == 0 || col_tiles() != 1)
    return 0;
  const std::int64_t step =
      std::int64_t{mapping.threads_per_row} * mapping.vector * mapping.cluster;
  const std::int64_t least = tiling_.tile_cols - step;
  return space_.axes[axis].size % tiling_.tile_cols == 0 || space_.axes[axis].size < least ? 0
                                                                                           : least;
}

void GroupValues::declare_parameters() {
  int inputs = 0;
  int outputs = 0;
  for (const Access& access : space_.accesses) {
    const Node& node = graph()[access.node];
    std::string name;
    tile::BufferId buffer = -1;
    if (node.op == Op::iota) {
      name = numbered("range", inputs++);
    } else {
      name = access.write ? numbered("out", outputs++) : numbered("in", inputs++);
      buffer = b_.add_buffer(name, node.dtype, access.write, is_reused(access));
      const NodeId owner = plan_.placements[access.node].buffer;
      kernel_.buffers.push_back({owner, access.offset - lead(access), access.write});
    }
    buffers_.push_back(buffer);
    ByAxis<ValueId> strides;
    for (AxisId axis = 0; axis < space_.axes.end_id(); ++axis)
      strides.push_back(is_dense_row(access, axis)
                            ? b_.integer(access.strides[axis])
                            : stride_param(numbered(name + "_stride", axis), access.strides[axis]));
    strides_.push_back(std::move(strides));
    const std::int64_t start = access.start + lead(access);
    starts_.push_back(start == 0 ? kNoValue : extent_param(name + "_start", start));
    range_params_.push_back(node.op == Op::iota ? declare_range(name, node, access.offset)
                                                : RangeParams{});
    window_params_.push_back(declare_windows(name, access));
    split_params_.push_back(declare_split(name, access));
  }
  for (AxisId axis = 0; axis < space_.axes.end_id(); ++axis)
    sizes_.push_back(extent_param(numbered("n", axis), space_.axes[axis].size, least_size(axis)));
  for (NodeId id : group_.nodes) {
    for (const Operand& operand : graph()[id].operands)
      if (is_scalar(graph()[operand.node].op)) declare_constant(operand.node);
    declare_index_bound(id);
  }
}

bool GroupValues::is_dense_row(const Access& access, AxisId axis) const {
  return tiling_.dense_rows && axis == tiling_.row_axis &&
         access.strides[axis] == tiling_.tile_cols && access.stride(tiling_.col_axis) == 1;
}

ValueId GroupValues::stride_param(const std::string& name, std::int64_t stride) {
  return stride == 0 || stride == 1 ? b_.integer(stride) : extent_param(name, stride);
}

GroupValues::SplitParams GroupValues::declare_split(const std::string& name, const Access& access) {
  if (!access.split) return {};
  // One parameter for all accesses with this divisor: the compiler then divides once for them all.
  const auto has_same_divisor = [&](const Access& other) {
    return other.split && other.split->inner == access.split->inner;
  };
  const auto first = std::find_if(space_.accesses.begin(), space_.accesses.end(), has_same_divisor);
  if (&*first == &access) kernel_.scalars.push_back(KernelScalar::of(access.split->inner));
  const int vector =
      for_gpu() && access.split->inner % tiling_.mapping.vector == 0 ? tiling_.mapping.vector : 1;
  const ValueId inner =
      &*first == &access
          ? b_.add_scalar({.name = name + "_inner", .multiple_of = vector, .positive = true})
          : split_params_[position_of(*first)].inner;
  return {inner, stride_param(name + "_outer_stride", access.split->outer_stride),
          stride_param(name + "_inner_stride", access.split->inner_stride)};
}

// Whether the access is broadcast along an axis, so that other programs read the same elements.
bool GroupValues::is_reused(const Access& access) const {
  if (!for_gpu() || access.write) return false;
  for (AxisId axis = 0; axis < space_.axes.end_id(); ++axis)
    if (space_.axes[axis].size > 1 && access.strides[axis] == 0) return true;
  return false;
}

ValueId GroupValues::number_param(const std::string& name, const Scalar& value, DType dtype) {
  if (is_floating(dtype)) {
    kernel_.scalars.push_back(KernelScalar::of(value.real));
    return b_.cast(b_.add_scalar(name, DType::f64), compute_dtype(dtype));
  }
  kernel_.scalars.push_back(KernelScalar::of(value.integer));
  return b_.cast(b_.add_scalar(name, DType::i64), dtype);
}

GroupValues::WindowParams GroupValues::declare_windows(const std::string& name,
                                                       const Access& access) {
  WindowParams params;
  for (const AxisWindow& window : access.windows) {
    const auto bound = [&](const char* which, std::int64_t value, bool is_needed) {
      return is_needed ? extent_param(fmt::format("{}_{}{}", name, which, window.axis), value)
                       : kNoValue;
    };
    params.bounds.push_back({window.axis, bound("first", window.first, window.first > 0),
                             bound("last", window.last, window.last < size(window.axis))});
  }
  const bool is_zero = same_bits(access.fill, Scalar::of(0.0)) ||
                       same_bits(access.fill, Scalar::of(std::int64_t{0}));
  if (!params.bounds.empty() && !is_zero)
    params.fill = number_param(name + "_fill", access.fill, graph()[access.node].dtype);
  return params;
}

// start + step * (offset + position): step * offset is folded into the start.
GroupValues::RangeParams GroupValues::declare_range(const std::string& name, const Node& node,
                                                    std::int64_t offset) {
  const Scalar start =
      node.value.is_real || node.step.is_real
          ? Scalar::of(node.value.real + node.step.real * static_cast<double>(offset))
          : Scalar::of(node.value.integer + node.step.integer * offset);
  if (counts_indices(node) && offset == 0) return {};
  return {number_param(name + "_start", start, node.dtype),
          number_param(name + "_step", node.step, node.dtype)};
}

// An index compared with a constant is a mask: vectors on one side of the constant check it once.
void GroupValues::declare_index_bound(NodeId id) {
  const Node& node = graph()[id];
  if ((node.op != Op::lt && node.op != Op::ge) || !counts_indices(graph()[node.operands[0].node]))
    return;
  const Node& bound = graph()[node.operands[1].node];
  const Access& access = space_.find_read(node.operands[0], is_per_row(id));
  if (bound.op != Op::constant || !access.windows.empty()) return;
  index_bounds_[id] = extent_param(numbered("bound", std::ssize(index_bounds_)),
                                   bound.value.as(DType::i64).integer - access.offset);
}

void GroupValues::declare_constant(NodeId id) {
  if (constants_.count(id)) return;
  const Node& node = graph()[id];
  const bool is_given = node.op == Op::number;
  const Scalar& value = is_given ? graph().numbers.traced_value(node.number) : node.value;
  constants_[id] = number_param(numbered("c", std::ssize(constants_)),
                                value.as(compute_dtype(node.dtype)), node.dtype);
  if (is_given) kernel_.scalars.back().number = id;
}

// --- tile position ------------------------------------------------------------------------------

// Program ids run fastest over the blocks of the tile's axes, then over the other kept axes.
void GroupValues::locate_program() {
  struct Count {
    AxisId axis;
    std::int64_t blocks;
    std::int64_t tile;
  };
  std::vector<Count> counts;
  for (AxisId axis : space_.kept_axes())
    if (axis != tiling_.row_axis && axis != tiling_.col_axis)
      counts.push_back({axis, size(axis), 1});
  if (tiling_.row_axis >= 0)
    counts.push_back(
        {tiling_.row_axis, ceil_div(size(tiling_.row_axis), tiling_.tile_rows), tiling_.tile_rows});
  const bool is_cut = tiling_.col_axis >= 0 && !col_is_reduced() && !tiling_.dense_rows;
  if (is_cut) counts.push_back({tiling_.col_axis, col_tiles(), tiling_.tile_cols});

  if (tiling_.rows_first && counts.size() > 1 && !col_is_reduced())
    std::swap(counts[counts.size() - 1], counts[counts.size() - 2]);

  index_.assign(space_.axes.size(), kNoValue);
  kernel_.grid = 1;
  ValueId rest = b_.program_id();
  std::map<AxisId, ValueId> block;
  for (std::size_t i = counts.size(); i-- > 0;) {
    kernel_.grid *= counts[i].blocks;
    if (i == 0) {
      block[counts[i].axis] = rest;
      break;
    }
    const ValueId blocks = counts[i].tile == 1
                               ? sizes_[counts[i].axis]
                               : scalar_param(numbered("blocks", counts[i].axis), counts[i].blocks);
    const tile::Builder::Divided divided = b_.divide(rest, blocks);
    block[counts[i].axis] = divided.rest;
    rest = divided.quotient;
  }
  for (auto [axis, id] : block) {
    if (axis == tiling_.row_axis)
      set_tile_axis(axis, Axis::rows, tiling_.tile_rows, id);
    else if (axis != tiling_.col_axis)
      index_[axis] = id;
  }
  if (const auto col = block.find(tiling_.col_axis); col != block.end())
    set_tile_axis(col->first, Axis::cols, tiling_.tile_cols, col->second);
  else if (tiling_.dense_rows && !col_is_reduced())
    set_tile_axis(tiling_.col_axis, Axis::cols, tiling_.tile_cols, b_.integer(0));
}

std::int64_t GroupValues::col_tiles() const {
  return ceil_div(cut_columns(tiling_, size(tiling_.col_axis)), tiling_.tile_cols);
}

// Sets the axis' indices in this tile, and the mask of those in range.
void GroupValues::set_tile_axis(AxisId axis, Axis along, std::int64_t count, ValueId block) {
  const ValueId start = b_.mul(block, b_.integer(count));
  const ValueId positions = b_.add(start, b_.arange(along, count));
  index_[axis] = positions;
  if (along == Axis::cols && tiling_.aligned_to >= 0) return align_columns(positions);
  // GPU kernels are specialized for sizes that tiles divide: these need no mask.
  if (for_gpu() && size(axis) % count == 0) return;
  (along == Axis::rows ? row_mask_ : col_mask_) = b_.pointwise(Op::lt, {positions, sizes_[axis]});
}

void GroupValues::move_to(AxisId axis, ValueId at) {
  uneven_.clear();
  if (axis == tiling_.col_axis)
    set_tile_axis(axis, Axis::cols, tiling_.tile_cols, at);
  else
    index_[axis] = at;
}

ValueId GroupValues::both(ValueId a, ValueId b) {
  if (a == kNoValue) return b;
  return b == kNoValue ? a : b_.pointwise(Op::logical_and, {a, b});
}

// --- values -------------------------------------------------------------------------------------

ValueId GroupValues::operand_value(const Operand& operand, bool per_row) {
  if (is_scalar(graph()[operand.node].op)) return constants_.at(operand.node);
  if (in_group(operand.node)) return value(operand.node);
  const Access& access = space_.find_read(operand, per_row);
  auto [it, fresh] = loads_.try_emplace(position_of(access), kNoValue);
  if (fresh) it->second = read(access);
  return it->second;
}

ValueId GroupValues::value(NodeId id) {
  auto& known = is_per_row(id) ? per_row_ : inner_;
  if (auto it = known.find(id); it != known.end()) return it->second;
  const Node& node = graph()[id];
  SINTER_ASSERT(!is_reduction(node.op), "%{} is read before it is reduced", id);
  if (const auto bound = index_bounds_.find(id); bound != index_bounds_.end()) {
    const Access& index = space_.find_read(node.operands[0], is_per_row(id));
    return known[id] = b_.pointwise(node.op, {offsets(index), bound->second});
  }
  std::vector<ValueId> args;
  for (const Operand& operand : node.operands)
    args.push_back(operand_value(operand, is_per_row(id)));
  const auto power = node.op == Op::pow ? power_form(graph(), node) : std::nullopt;
  ValueId result = kNoValue;
  if (power)
    result = emit_power(b_, args[0], *power);
  else if (node.op == Op::cast)
    result = b_.cast(args[0], node.dtype);
  else if (node.op == Op::copy)
    result = args[0];
  else
    result = b_.pointwise(node.op, args);
  return known[id] = result;
}

// --- reductions ---------------------------------------------------------------------------------

DType GroupValues::position_dtype() const {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  std::int64_t length = 1;
  for (AxisId axis : space_.reduced_axes()) length *= size(axis);
  return length > kMost ? DType::i64 : DType::i32;
}

ValueId GroupValues::identity(ReduceKind kind, DType dtype) {
  const Scalar value = identity_of(kind, dtype);
  return is_floating(dtype) ? b_.real(value.real, dtype) : b_.integer(value.integer, dtype);
}

void GroupValues::set_reduced(NodeId id, std::span<const ValueId> left) {
  if (!is_arg(graph()[id].reduce_kind)) {
    per_row_[id] = left[0];
    return;
  }
  // Columns before a cut row's first one have negative positions. They win where all elements are
  // the identity, so that the first element should.
  ValueId position = left[1];
  if (tiling_.aligned_to >= 0)
    position = b_.pointwise(Op::maximum, {position, b_.integer(0, b_[position].dtype)});
  per_row_[id] = b_.cast(position, DType::i64);
}

// The element's position in its row, row-major along the reduced axes.
ValueId GroupValues::row_position() {
  ValueId position = kNoValue;
  for (AxisId axis : space_.reduced_axes()) {
    const ValueId at = index_[axis];
    position = position == kNoValue ? at : b_.add(b_.mul(position, size_value(axis)), at);
  }
  return position;
}

std::vector<ValueId> GroupValues::reduction_args(NodeId id) {
  const Node& node = graph()[id];
  ValueId value = operand_value(node.operands[0], false);
  if (node.op == Op::contract) {
    const DType dtype = compute_dtype(node.dtype);
    const ValueId other = operand_value(node.operands[1], false);
    value = b_.pointwise(Op::mul, {b_.cast(value, dtype), b_.cast(other, dtype)});
  }
  if (info(node.reduce_kind).dtype == ReduceDType::Accumulated)
    value = b_.cast(value, compute_dtype(node.dtype));
  if (col_is_reduced() && col_mask_ != kNoValue)
    value =
        b_.pointwise(Op::where, {col_mask_, value, identity(node.reduce_kind, b_[value].dtype)});
  else if (col_is_reduced())  // a value broadcast along the columns counts once per column
    value = b_.broadcast_to(value, {b_[value].shape.rows, tiling_.tile_cols});
  if (!is_arg(node.reduce_kind)) return {value};
  return {value, b_.cast(row_position(), position_dtype())};
}

}  // namespace sinter
