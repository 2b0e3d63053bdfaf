// One class writes all four forms. In the whole-tile forms (pointwise, row) every node is one tile
// operation; in the looping forms (chunked, column) the reduced axes are walked once for each round
// of reductions, and full-level values are computed again in each round.
#include "src/lower/lower.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <optional>

#include "src/base/check.h"
#include "src/base/rounding.h"
#include "src/tile/builder.h"

namespace sinter {
namespace {

using tile::Axis;
using tile::Builder;
using tile::kNoValue;
using tile::ValueId;

constexpr std::int64_t kTripsPerBlock = 256;

// "max_sub_exp_sum_div": the operations, so that a profile is readable.
std::string kernel_name(const Plan& plan, const FusionGroup& group) {
  constexpr std::size_t kLongest = 64;
  std::string name;
  for (NodeId id : group.nodes) {
    const Node& node = plan.graph[id];
    const std::string_view op =
        node.op == Op::reduce ? name_of(node.reduce_kind) : name_of(node.op);
    if (name.size() + op.size() + 6 > kLongest) return name + "_more";
    name += name.empty() ? "" : "_";
    name += op;
  }
  return name;
}

class GroupLowering {
 public:
  GroupLowering(const Plan& plan, int index, const IterationSpace& space, const Config& config)
      : plan_(plan),
        index_of_group_(index),
        group_(plan.groups[static_cast<std::size_t>(index)]),
        space_(space),
        config_(config),
        b_(kernel_name(plan, group_)) {}

  Kernel run() {
    declare_parameters();
    locate_program();
    if (config_.form == Form::pointwise || config_.form == Form::row)
      emit_whole_tiles();
    else
      emit_rounds();
    b_.set_stream_loads(config_.stream_loads);
    b_.set_stream_stores(config_.stream_stores);
    config_.mapping.wide_index = needs_wide_index();
    b_.set_mapping(config_.mapping);
    kernel_.program = b_.finish();
    kernel_.config = config_;
    return std::move(kernel_);
  }

 private:
  const Graph& graph() const { return plan_.graph; }
  bool in_group(NodeId id) const {
    return plan_.group_of[static_cast<std::size_t>(id)] == index_of_group_;
  }
  Level level(NodeId id) const { return level_of(plan_, group_.domain, id); }
  std::int64_t size(int axis) const { return space_.axes[static_cast<std::size_t>(axis)].size; }
  bool col_is_reduced() const {
    return config_.col_axis >= 0 && space_.axes[static_cast<std::size_t>(config_.col_axis)].reduced;
  }

  bool for_gpu() const { return config_.mapping.threads > 0; }

  // Whether an offset, or anything offsets are made of, may not fit 32 bits.
  bool needs_wide_index() const {
    constexpr std::int64_t kMost = (std::int64_t{1} << 31) - (1 << 20);
    const std::vector<tile::ScalarParam>& params = b_.program().scalars;
    for (std::size_t i = 0; i < params.size(); ++i)
      if (params[i].dtype == DType::i64 &&
          (kernel_.scalars[i] >= kMost || kernel_.scalars[i] <= -kMost))
        return true;
    // Whole numbers that are data, not offsets: what is computed with them may be anything.
    for (const auto& [id, value] : constants_)
      if (graph()[id].dtype == DType::i64) return true;
    for (const Access& access : space_.accesses) {
      if (graph()[access.node].op == Op::iota && graph()[access.node].dtype == DType::i64)
        return true;
      double most = std::abs(static_cast<double>(access.offset));
      for (std::size_t axis = 0; axis < space_.axes.size(); ++axis) {
        const bool is_cols = static_cast<int>(axis) == config_.col_axis;
        const bool is_rows = static_cast<int>(axis) == config_.row_axis;
        const std::int64_t tile = is_cols ? config_.tile_cols : is_rows ? config_.tile_rows : 1;
        most += std::abs(static_cast<double>(access.strides[axis])) *
                static_cast<double>(space_.axes[axis].size + tile);
      }
      if (most >= static_cast<double>(kMost)) return true;
    }
    return false;
  }

  // --- parameters -------------------------------------------------------------------------------

  ValueId scalar_param(const std::string& name, std::int64_t value) {
    kernel_.scalars.push_back(value);
    return b_.add_scalar(name, DType::i64);
  }

  // A size or stride. A GPU's kernels are told whether vectors divide it.
  ValueId extent_param(const std::string& name, std::int64_t value) {
    kernel_.scalars.push_back(value);
    const int vector = for_gpu() ? config_.mapping.vector : 1;
    return b_.add_scalar(name, DType::i64, value % vector == 0 ? vector : 1);
  }

  void declare_parameters() {
    int inputs = 0;
    int outputs = 0;
    for (const Access& access : space_.accesses) {
      const Node& node = graph()[access.node];
      std::string name;
      int buffer = -1;
      if (node.op == Op::iota) {
        name = fmt::format("range{}", inputs++);
      } else {
        name = access.write ? fmt::format("out{}", outputs++) : fmt::format("in{}", inputs++);
        buffer = b_.add_buffer(name, node.dtype, access.write, is_reused(access));
        const NodeId owner = plan_.placements[static_cast<std::size_t>(access.node)].buffer;
        kernel_.buffers.push_back({owner, access.offset});
      }
      buffers_.push_back(buffer);
      std::vector<ValueId> strides;
      for (std::size_t axis = 0; axis < space_.axes.size(); ++axis) {
        const std::int64_t stride = access.strides[axis];
        strides.push_back(stride == 0 || stride == 1
                              ? b_.integer(stride)
                              : extent_param(fmt::format("{}_stride{}", name, axis), stride));
      }
      strides_.push_back(std::move(strides));
      range_params_.push_back(node.op == Op::iota ? declare_range(name, node, access.offset)
                                                  : RangeParams{});
    }
    for (std::size_t axis = 0; axis < space_.axes.size(); ++axis)
      sizes_.push_back(extent_param(fmt::format("n{}", axis), space_.axes[axis].size));
    for (NodeId id : group_.nodes)
      for (const Operand& operand : graph()[id].operands)
        if (graph()[operand.node].op == Op::constant) declare_constant(operand.node);
  }

  // Repeated along an axis: other programs read it, too.
  bool is_reused(const Access& access) const {
    if (!for_gpu() || access.write) return false;
    for (std::size_t axis = 0; axis < space_.axes.size(); ++axis)
      if (space_.axes[axis].size > 1 && access.strides[axis] == 0) return true;
    return false;
  }

  struct RangeParams {
    ValueId start = kNoValue;
    ValueId step = kNoValue;
  };

  ValueId number_param(const std::string& name, const Scalar& value, DType dtype) {
    if (is_floating(dtype)) {
      kernel_.scalars.push_back(std::bit_cast<std::int64_t>(value.real));
      return b_.cast(b_.add_scalar(name, DType::f64), compute_dtype(dtype));
    }
    kernel_.scalars.push_back(value.integer);
    return b_.cast(b_.add_scalar(name, DType::i64), dtype);
  }

  // start + step * (offset + position): the first two become one number where they are exact.
  RangeParams declare_range(const std::string& name, const Node& node, std::int64_t offset) {
    const Scalar start =
        node.value.is_real || node.step.is_real
            ? Scalar::of(node.value.real + node.step.real * static_cast<double>(offset))
            : Scalar::of(node.value.integer + node.step.integer * offset);
    return {number_param(name + "_start", start, node.dtype),
            number_param(name + "_step", node.step, node.dtype)};
  }

  void declare_constant(NodeId id) {
    if (constants_.count(id)) return;
    const Node& node = graph()[id];
    constants_[id] = number_param(fmt::format("c{}", constants_.size()),
                                  node.value.as(compute_dtype(node.dtype)), node.dtype);
  }

  // --- where this program stands ----------------------------------------------------------------

  // Program ids count the blocks of the tile's axes fastest, then the other kept axes.
  void locate_program() {
    struct Count {
      int axis;
      std::int64_t blocks;
      std::int64_t tile;
    };
    std::vector<Count> counts;
    for (int axis : space_.kept_axes())
      if (axis != config_.row_axis && axis != config_.col_axis)
        counts.push_back({axis, size(axis), 1});
    if (config_.row_axis >= 0)
      counts.push_back({config_.row_axis, ceil_div(size(config_.row_axis), config_.tile_rows),
                        config_.tile_rows});
    if (config_.col_axis >= 0 && !col_is_reduced())
      counts.push_back({config_.col_axis, ceil_div(size(config_.col_axis), config_.tile_cols),
                        config_.tile_cols});

    if (config_.rows_first && counts.size() > 1 && !col_is_reduced())
      std::swap(counts[counts.size() - 1], counts[counts.size() - 2]);

    index_.assign(space_.axes.size(), kNoValue);
    kernel_.grid = 1;
    ValueId rest = b_.program_id();
    std::map<int, ValueId> block;
    for (std::size_t i = counts.size(); i-- > 0;) {
      kernel_.grid *= counts[i].blocks;
      if (i == 0) {
        block[counts[i].axis] = rest;
        break;
      }
      const ValueId blocks =
          counts[i].tile == 1
              ? sizes_[static_cast<std::size_t>(counts[i].axis)]
              : scalar_param(fmt::format("blocks{}", counts[i].axis), counts[i].blocks);
      block[counts[i].axis] = b_.modulo(rest, blocks);
      rest = b_.quotient(rest, blocks);
    }
    for (auto [axis, id] : block) {
      if (axis == config_.row_axis)
        set_tile_axis(axis, Axis::rows, config_.tile_rows, id);
      else if (axis == config_.col_axis)
        set_tile_axis(axis, Axis::cols, config_.tile_cols, id);
      else
        index_[static_cast<std::size_t>(axis)] = id;
    }
    if (config_.form == Form::row)
      set_tile_axis(config_.col_axis, Axis::cols, config_.tile_cols, b_.integer(0));
  }

  // The axis' positions in this tile, and which of them exist.
  void set_tile_axis(int axis, Axis along, std::int64_t count, ValueId block) {
    const ValueId start = b_.mul(block, b_.integer(count));
    const ValueId positions = b_.add(start, b_.arange(along, count));
    index_[static_cast<std::size_t>(axis)] = positions;
    // A GPU's kernels are told where tiles fit the axis: every one of them is whole.
    if (for_gpu() && size(axis) % count == 0) return;
    (along == Axis::rows ? row_mask_ : col_mask_) =
        b_.pointwise(Op::lt, {positions, sizes_[static_cast<std::size_t>(axis)]});
  }

  ValueId both(ValueId a, ValueId b) {
    if (a == kNoValue) return b;
    return b == kNoValue ? a : b_.pointwise(Op::logical_and, {a, b});
  }

  // --- memory -----------------------------------------------------------------------------------

  std::size_t position_of(const Access& access) const {
    return static_cast<std::size_t>(&access - space_.accesses.data());
  }

  ValueId offsets(const Access& access) {
    ValueId sum = b_.integer(0);
    for (std::size_t axis = 0; axis < space_.axes.size(); ++axis) {
      if (access.strides[axis] == 0) continue;
      sum = b_.add(sum, b_.mul(index_[axis], strides_[position_of(access)][axis]));
    }
    return sum;
  }

  ValueId read_mask(const Access& access) {
    const bool rows =
        config_.row_axis >= 0 && access.strides[static_cast<std::size_t>(config_.row_axis)] != 0;
    const bool cols =
        config_.col_axis >= 0 && access.strides[static_cast<std::size_t>(config_.col_axis)] != 0;
    return both(rows ? row_mask_ : kNoValue, cols ? col_mask_ : kNoValue);
  }

  ValueId zero(DType dtype) {
    return is_floating(dtype) ? b_.real(0, dtype) : b_.integer(0, dtype);
  }

  ValueId read(const Access& access) {
    const Node& node = graph()[access.node];
    const DType dtype = compute_dtype(node.dtype);
    const std::size_t at = position_of(access);
    if (node.op == Op::iota) {
      const ValueId position = b_.cast(offsets(access), dtype);
      return b_.pointwise(Op::add, {range_params_[at].start,
                                    b_.pointwise(Op::mul, {position, range_params_[at].step})});
    }
    const ValueId mask = read_mask(access);
    return b_.load(buffers_[at], offsets(access), mask, mask == kNoValue ? kNoValue : zero(dtype));
  }

  void write(NodeId id, ValueId value) {
    const Access& access = space_.find_write(id);
    const bool cols = access.level == Level::full || !col_is_reduced();
    const ValueId mask = both(row_mask_, cols ? col_mask_ : kNoValue);
    b_.store(buffers_[position_of(access)], offsets(access), value, mask);
  }

  // --- values -----------------------------------------------------------------------------------

  std::map<NodeId, ValueId>& values_at(Level at) { return at == Level::full ? full_ : row_; }

  ValueId operand_value(const Operand& operand, Level reader) {
    if (graph()[operand.node].op == Op::constant) return constants_.at(operand.node);
    if (in_group(operand.node)) return value(operand.node);
    const Access& access = space_.find_read(operand, reader);
    auto [it, fresh] = loads_.try_emplace(position_of(access), kNoValue);
    if (fresh) it->second = read(access);
    return it->second;
  }

  // A pointwise node's value; reductions must have theirs already.
  ValueId value(NodeId id) {
    auto& known = values_at(level(id));
    if (auto it = known.find(id); it != known.end()) return it->second;
    const Node& node = graph()[id];
    SINTER_ASSERT(node.op != Op::reduce, "%{} is read before it is reduced", id);
    std::vector<ValueId> args;
    for (const Operand& operand : node.operands) args.push_back(operand_value(operand, level(id)));
    ValueId result = kNoValue;
    if (node.op == Op::cast)
      result = b_.cast(args[0], node.dtype);
    else if (node.op == Op::copy)
      result = args[0];
    else
      result = b_.pointwise(node.op, args);
    return known[id] = result;
  }

  // --- reductions -------------------------------------------------------------------------------

  DType position_dtype() const {
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    for (int axis : space_.reduced_axes())
      if (size(axis) > kMost) return DType::i64;
    return DType::i32;
  }

  // What changes nothing: 0 for a sum, the least value for a maximum.
  ValueId identity(ReduceKind kind, DType dtype) {
    const bool greatest = kind == ReduceKind::min || kind == ReduceKind::argmin;
    if (is_floating(dtype)) {
      const double infinity = std::numeric_limits<double>::infinity();
      if (kind == ReduceKind::sum || kind == ReduceKind::prod)
        return b_.real(kind == ReduceKind::prod ? 1 : 0, dtype);
      return b_.real(greatest ? infinity : -infinity, dtype);
    }
    if (kind == ReduceKind::sum || kind == ReduceKind::prod)
      return b_.integer(kind == ReduceKind::prod ? 1 : 0, dtype);
    if (dtype == DType::boolean) return b_.integer(greatest ? 1 : 0, dtype);
    if (dtype == DType::i32)
      return b_.integer(greatest ? std::numeric_limits<std::int32_t>::max()
                                 : std::numeric_limits<std::int32_t>::min(),
                        dtype);
    return b_.integer(greatest ? std::numeric_limits<std::int64_t>::max()
                               : std::numeric_limits<std::int64_t>::min(),
                      dtype);
  }

  // (value) or (value, position) as they enter the reduction; lanes outside the tile are neutral.
  std::vector<ValueId> reduction_args(const Node& node) {
    ValueId value = operand_value(node.operands[0], Level::full);
    if (node.reduce_kind == ReduceKind::sum || node.reduce_kind == ReduceKind::prod)
      value = b_.cast(value, compute_dtype(node.dtype));
    if (col_is_reduced() && col_mask_ != kNoValue)
      value =
          b_.pointwise(Op::where, {col_mask_, value, identity(node.reduce_kind, b_[value].dtype)});
    else if (col_is_reduced())  // what is the same in all columns still counts once for each
      value = b_.broadcast_to(value, {b_[value].shape.rows, config_.tile_cols});
    if (!is_arg(node.reduce_kind)) return {value};
    const int axis = space_.reduced_axes().front();
    return {value, b_.cast(index_[static_cast<std::size_t>(axis)], position_dtype())};
  }

  // The value that stands for the reduce node, given what the reduction left.
  ValueId reduction_result(const Node& node, std::span<const ValueId> left) {
    return is_arg(node.reduce_kind) ? b_.cast(left[1], DType::i64) : left[0];
  }

  // --- the whole-tile forms ---------------------------------------------------------------------

  void emit_whole_tiles() {
    for (NodeId id : group_.nodes) {
      const Node& node = graph()[id];
      if (node.op == Op::reduce) {
        const auto left = b_.reduce(node.reduce_kind, reduction_args(node));
        row_[id] = reduction_result(node, left);
      } else {
        value(id);
      }
    }
    for (NodeId id : group_.outputs) write(id, value(id));
  }

  // --- the looping forms ------------------------------------------------------------------------

  // The round in which a full-level node can be computed, or after which a row-level one is known.
  std::map<NodeId, int> rounds() const {
    std::map<NodeId, int> round;
    for (NodeId id : group_.nodes) {
      int needed = 0;
      for (const Operand& operand : graph()[id].operands)
        if (in_group(operand.node)) needed = std::max(needed, round.at(operand.node));
      round[id] = needed + (graph()[id].op == Op::reduce ? 1 : 0);
    }
    return round;
  }

  void emit_rounds() {
    const std::map<NodeId, int> round = rounds();
    int last = 0;
    for (auto [id, r] : round) last = std::max(last, level(id) == Level::row ? r : r + 1);
    declare_loop();
    emit_row_values(round, 0);
    for (int r = 0; r < last; ++r) {
      emit_round(round, r);
      emit_row_values(round, r + 1);
    }
    for (NodeId id : group_.outputs)
      if (level(id) == Level::row) write(id, value(id));
  }

  void declare_loop() {
    std::int64_t trips = 1;
    for (int axis : space_.reduced_axes()) {
      const bool tiled = axis == config_.col_axis;
      const std::int64_t steps = tiled ? ceil_div(size(axis), config_.tile_cols) : size(axis);
      trips *= steps;
      loop_axes_.push_back(
          {axis, tiled ? scalar_param("chunks", steps) : sizes_[static_cast<std::size_t>(axis)]});
    }
    trips_ = scalar_param("trips", trips);
    is_long_ = trips > 2 * kTripsPerBlock;
  }

  // Row-level values known after round r are computed outside the loops, where all later ones see
  // them.
  void emit_row_values(const std::map<NodeId, int>& round, int r) {
    loads_.clear();
    for (NodeId id : group_.nodes)
      if (level(id) == Level::row && graph()[id].op != Op::reduce && round.at(id) == r) value(id);
    loads_.clear();
  }

  // One walk over the reduced axes: everything that round r can reduce or store.
  void emit_round(const std::map<NodeId, int>& round, int r) {
    std::vector<NodeId> reductions;
    std::vector<NodeId> stores;
    for (NodeId id : group_.nodes)
      if (graph()[id].op == Op::reduce && round.at(id) == r + 1) reductions.push_back(id);
    for (NodeId id : group_.outputs)
      if (level(id) == Level::full && round.at(id) == r) stores.push_back(id);
    if (reductions.empty() && stores.empty()) return;

    const auto left = reductions.empty() || !is_long_
                          ? emit_loop(b_.integer(0), trips_, reductions, stores)
                          : emit_blocked_loop(reductions, stores);
    full_.clear();
    loads_.clear();
    std::size_t next = 0;
    for (NodeId id : reductions) {
      const std::size_t width = is_arg(graph()[id].reduce_kind) ? 2 : 1;
      const std::span<const ValueId> carried = std::span(left).subspan(next, width);
      row_[id] = reduces_late()
                     ? reduction_result(graph()[id], b_.reduce(graph()[id].reduce_kind, carried))
                     : reduction_result(graph()[id], carried);
      next += width;
    }
  }

  std::vector<ValueId> emit_loop(ValueId begin, ValueId end, const std::vector<NodeId>& reductions,
                                 const std::vector<NodeId>& stores) {
    std::vector<ValueId> init;
    for (NodeId id : reductions) append_initial(graph()[id], init);
    return b_.loop(begin, end, b_.integer(1), init,
                   [&](ValueId trip, std::span<const ValueId> carried) {
                     return loop_body(trip, carried, reductions, stores);
                   });
  }

  // Many trips are reduced in blocks: one long running sum would lose digits.
  std::vector<ValueId> emit_blocked_loop(const std::vector<NodeId>& reductions,
                                         const std::vector<NodeId>& stores) {
    std::vector<ValueId> init;
    for (NodeId id : reductions) append_initial(graph()[id], init);
    const ValueId block = b_.integer(kTripsPerBlock);
    return b_.loop(b_.integer(0), trips_, block, init,
                   [&](ValueId start, std::span<const ValueId> carried) {
                     const ValueId stop = b_.pointwise(Op::minimum, {b_.add(start, block), trips_});
                     const auto part = emit_loop(start, stop, reductions, stores);
                     std::vector<ValueId> next;
                     for (NodeId id : reductions) {
                       const ReduceKind kind = graph()[id].reduce_kind;
                       const std::size_t width = is_arg(kind) ? 2 : 1;
                       accumulate(kind, carried.subspan(next.size(), width),
                                  std::span(part).subspan(next.size(), width), next);
                     }
                     return next;
                   });
  }

  // A GPU's threads meet once after the loop, not on every trip: it carries a tile.
  bool reduces_late() const { return for_gpu() && col_is_reduced(); }

  // The shape of what a loop carries.
  ValueId spread(ValueId scalar) {
    const bool one = col_is_reduced() && !reduces_late();
    return b_.broadcast_to(scalar, {1, one ? 1 : config_.tile_cols});
  }

  void append_initial(const Node& node, std::vector<ValueId>& init) {
    const DType operand = compute_dtype(graph()[node.operands[0].node].dtype);
    const bool wide = node.reduce_kind == ReduceKind::sum || node.reduce_kind == ReduceKind::prod;
    const DType dtype = wide ? compute_dtype(node.dtype) : operand;
    init.push_back(spread(identity(node.reduce_kind, dtype)));
    if (is_arg(node.reduce_kind)) init.push_back(spread(b_.integer(0, position_dtype())));
  }

  std::vector<ValueId> loop_body(ValueId trip, std::span<const ValueId> carried,
                                 const std::vector<NodeId>& reductions,
                                 const std::vector<NodeId>& stores) {
    full_.clear();
    loads_.clear();
    ValueId rest = trip;
    for (std::size_t i = loop_axes_.size(); i-- > 0;) {
      const auto [axis, count] = loop_axes_[i];
      const ValueId at = i == 0 ? rest : b_.modulo(rest, count);
      if (i != 0) rest = b_.quotient(rest, count);
      if (axis == config_.col_axis)
        set_tile_axis(axis, Axis::cols, config_.tile_cols, at);
      else
        index_[static_cast<std::size_t>(axis)] = at;
    }
    std::vector<ValueId> next;
    for (NodeId id : reductions) {
      const Node& node = graph()[id];
      std::vector<ValueId> entering = reduction_args(node);
      if (col_is_reduced() && !reduces_late()) entering = b_.reduce(node.reduce_kind, entering);
      accumulate(node.reduce_kind, carried.subspan(next.size(), entering.size()), entering, next);
    }
    for (NodeId id : stores) write(id, value(id));
    return next;
  }

  void accumulate(ReduceKind kind, std::span<const ValueId> kept, std::span<const ValueId> entering,
                  std::vector<ValueId>& next) {
    constexpr Op kCombine[] = {Op::add, Op::mul, Op::maximum, Op::minimum};
    if (!is_arg(kind)) {
      next.push_back(b_.pointwise(kCombine[static_cast<int>(kind)], {kept[0], entering[0]}));
      return;
    }
    // Strictly better, or the first NaN: the earliest position wins ties.
    ValueId better =
        b_.pointwise(kind == ReduceKind::argmax ? Op::gt : Op::lt, {entering[0], kept[0]});
    if (is_floating(b_[kept[0]].dtype)) {
      const ValueId kept_number =
          b_.pointwise(Op::logical_not, {b_.pointwise(Op::isnan, {kept[0]})});
      const ValueId entering_nan = b_.pointwise(Op::isnan, {entering[0]});
      better = b_.pointwise(Op::logical_or,
                            {better, b_.pointwise(Op::logical_and, {entering_nan, kept_number})});
    }
    next.push_back(b_.pointwise(Op::where, {better, entering[0], kept[0]}));
    next.push_back(b_.pointwise(Op::where, {better, entering[1], kept[1]}));
  }

  struct LoopAxis {
    int axis;
    ValueId count;
  };

  const Plan& plan_;
  int index_of_group_;
  const FusionGroup& group_;
  const IterationSpace& space_;
  Config config_;
  Builder b_;
  Kernel kernel_;

  std::vector<int> buffers_;                   // by access; -1 for a range
  std::vector<std::vector<ValueId>> strides_;  // by access, by axis
  std::vector<RangeParams> range_params_;      // by access
  std::vector<ValueId> sizes_;                 // by axis
  std::vector<ValueId> index_;                 // by axis: the positions this tile is at
  std::map<NodeId, ValueId> constants_;
  ValueId row_mask_ = kNoValue;
  ValueId col_mask_ = kNoValue;

  std::vector<LoopAxis> loop_axes_;
  ValueId trips_ = kNoValue;
  bool is_long_ = false;

  std::map<NodeId, ValueId> full_;  // values computed so far (in this round)
  std::map<NodeId, ValueId> row_;
  std::map<std::size_t, ValueId> loads_;  // by access
};

}  // namespace

Kernel lower(const Plan& plan, int group, const IterationSpace& space, const Config& config) {
  return GroupLowering(plan, group, space, config).run();
}

}  // namespace sinter
