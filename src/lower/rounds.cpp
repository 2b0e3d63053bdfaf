// Rounds of reductions, loops over the reduced axes, and loop-carried values.
#include "src/lower/rounds.h"

#include <algorithm>
#include <map>

#include "src/base/rounding.h"
#include "src/lower/group_values.h"
#include "src/lower/online.h"
#include "src/tile/thread_layout.h"

namespace sinter {
namespace {

using tile::Builder;
using tile::ValueId;

constexpr std::int64_t kTripsPerBlock = 256;
constexpr std::int64_t kMostTripsAtOnce = 16;  // divides kTripsPerBlock
constexpr std::int64_t kBytesAtOnce = 64;      // that a thread has under way
constexpr std::size_t kMostNodesAtOnce = 64;   // copies of the group's nodes in the loop's body

// A thread of a column loads little per trip, so several trips are taken at once to have enough
// loads under way.
std::int64_t trips_at_once(const GroupValues& values, const IterationSpace& space,
                           const Tiling& tiling) {
  if (!values.for_gpu() || values.col_is_reduced() || space.contraction) return 1;
  std::int64_t bytes = 0;
  for (const Access& access : space.accesses)
    if (!access.write && !access.per_row) bytes += access.element_bytes;
  const std::int64_t each =
      tile::ThreadLayout(tiling.mapping).elements({tiling.tile_rows, tiling.tile_cols});
  std::int64_t trips = 1;
  while (trips < kMostTripsAtOnce && 2 * trips * bytes * each <= kBytesAtOnce &&
         2 * static_cast<std::size_t>(trips) * values.group().nodes.size() <= kMostNodesAtOnce)
    trips *= 2;
  return bytes == 0 ? 1 : trips;
}

class RoundLowering {
 public:
  RoundLowering(GroupValues& values, const IterationSpace& space, const Tiling& tiling)
      : values_(values),
        b_(values.builder()),
        tiling_(tiling),
        group_(values.group()),
        at_once_(trips_at_once(values, space, tiling)) {}

  // Computes these sums in the round of their maximum.
  void set_online(std::map<NodeId, NodeId> sums) {
    if (reduces_late() || !values_.col_is_reduced()) online_ = std::move(sums);
  }

  void run() {
    const std::map<NodeId, int> round = rounds();
    int last = 0;
    for (auto [id, r] : round) last = std::max(last, values_.is_per_row(id) ? r : r + 1);
    declare_loop();
    emit_row_values(round, 0);
    for (int r = 0; r < last; ++r) {
      emit_round(members_of(round, r));
      emit_row_values(round, r + 1);
    }
    for (NodeId id : group_.outputs)
      if (values_.is_per_row(id)) values_.write(id, values_.value(id));
  }

 private:
  // A loop-carried reduction, or a maximum with its online sum.
  struct Running {
    NodeId id;
    NodeId sum = -1;
  };

  struct Round {
    std::vector<Running> reductions;
    std::vector<NodeId> stores;
  };

  bool is_online_sum(NodeId id) const {
    return std::any_of(online_.begin(), online_.end(),
                       [&](const auto& pair) { return pair.second == id; });
  }

  // The round in which a node along the reduced axes can be computed, or after which a per-row node
  // is known.
  std::map<NodeId, int> rounds() const {
    std::map<NodeId, int> round;
    for (NodeId id : group_.nodes) {
      int needed = 0;
      for (const Operand& operand : node(id).operands)
        if (values_.in_group(operand.node)) needed = std::max(needed, round.at(operand.node));
      // An online sum needs no extra round: its operands already depend on the maximum.
      round[id] = needed + (is_reduction(node(id).op) && !is_online_sum(id) ? 1 : 0);
    }
    return round;
  }

  void declare_loop() {
    std::int64_t trips = 1;
    for (int axis : values_.reduced_axes()) {
      const bool tiled = axis == tiling_.col_axis;
      const std::int64_t steps = tiled ? values_.col_tiles() : values_.size(axis);
      trips *= steps;
      loop_axes_.push_back(
          {axis, tiled ? values_.scalar_param("chunks", steps) : values_.size_value(axis)});
    }
    trips_ = values_.scalar_param("trips", trips);
    is_long_ = trips > 2 * kTripsPerBlock;
    has_many_trips_ = trips > at_once_;
  }

  // Computes per-row values known after round r outside the loops, so that all later code can use
  // them.
  void emit_row_values(const std::map<NodeId, int>& round, int r) {
    values_.forget_loads();
    for (NodeId id : group_.nodes)
      if (values_.is_per_row(id) && !is_reduction(node(id).op) && round.at(id) == r)
        values_.value(id);
    values_.forget_loads();
  }

  Round members_of(const std::map<NodeId, int>& round, int r) const {
    Round members;
    for (NodeId id : group_.nodes) {
      if (!is_reduction(node(id).op) || round.at(id) != r + 1 || is_online_sum(id)) continue;
      const auto online = online_.find(id);
      members.reductions.push_back({id, online == online_.end() ? -1 : online->second});
    }
    for (NodeId id : group_.outputs)
      if (!values_.is_per_row(id) && round.at(id) == r) members.stores.push_back(id);
    return members;
  }

  // One loop over the reduced axes, with all reductions and stores of the round.
  void emit_round(const Round& round) {
    if (round.reductions.empty() && round.stores.empty()) return;
    const auto left = round.reductions.empty() || !is_long_
                          ? emit_loop(b_.integer(0), trips_, round)
                          : emit_blocked_loop(round);
    values_.forget_inner();
    std::size_t next = 0;
    for (const Running& each : round.reductions) {
      settle(each, std::span(left).subspan(next, width_of(each)));
      next += width_of(each);
    }
  }

  std::vector<ValueId> initial(const Round& round) {
    std::vector<ValueId> init;
    for (const Running& each : round.reductions) append_initial(each, init);
    return init;
  }

  std::vector<ValueId> emit_loop(ValueId begin, ValueId end, const Round& round) {
    if (at_once_ == 1 || !has_many_trips_) return emit_trips(begin, end, 1, initial(round), round);
    const ValueId at_once = b_.integer(at_once_);
    const ValueId whole = b_.mul(b_.quotient(b_.sub(end, begin), at_once), at_once);
    const ValueId middle = b_.add(begin, whole);
    std::vector<ValueId> sums = emit_trips(begin, middle, at_once_, initial(round), round);
    values_.count_passes(false);
    sums = emit_trips(middle, end, 1, std::move(sums), round);
    values_.count_passes(true);
    return sums;
  }

  // `at_once` divides the number of trips.
  std::vector<ValueId> emit_trips(ValueId begin, ValueId end, std::int64_t at_once,
                                  std::vector<ValueId> init, const Round& round) {
    return b_.loop(begin, end, b_.integer(at_once), std::move(init),
                   [&](ValueId trip, std::span<const ValueId> carried) {
                     std::vector<ValueId> next(carried.begin(), carried.end());
                     const bool counts = values_.counts_passes();
                     for (std::int64_t i = 0; i < at_once; ++i) {
                       next = loop_body(i == 0 ? trip : b_.add(trip, b_.integer(i)), next, round);
                       values_.count_passes(false);
                     }
                     values_.count_passes(counts);
                     return next;
                   });
  }

  // Reduces many trips in blocks: one long running sum would lose precision.
  std::vector<ValueId> emit_blocked_loop(const Round& round) {
    const ValueId block = b_.integer(kTripsPerBlock);
    return b_.loop(b_.integer(0), trips_, block, initial(round),
                   [&](ValueId start, std::span<const ValueId> carried) {
                     const ValueId stop = b_.pointwise(Op::minimum, {b_.add(start, block), trips_});
                     const auto part = emit_loop(start, stop, round);
                     std::vector<ValueId> next;
                     for (const Running& each : round.reductions)
                       accumulate(each, carried.subspan(next.size(), width_of(each)),
                                  std::span(part).subspan(next.size(), width_of(each)), next);
                     return next;
                   });
  }

  std::vector<ValueId> loop_body(ValueId trip, std::span<const ValueId> carried,
                                 const Round& round) {
    values_.forget_inner();
    ValueId rest = trip;
    ValueId col = tile::kNoValue;  // where a row's columns are cut depends on the other axes
    for (std::size_t i = loop_axes_.size(); i-- > 0;) {
      const auto [axis, count] = loop_axes_[i];
      const Builder::Divided divided =
          i == 0 ? Builder::Divided{tile::kNoValue, rest} : b_.divide(rest, count);
      if (axis == tiling_.col_axis)
        col = divided.rest;
      else
        values_.move_to(axis, divided.rest);
      rest = divided.quotient;
    }
    if (col != tile::kNoValue) values_.move_to(tiling_.col_axis, col);
    std::vector<ValueId> next;
    for (const Running& each : round.reductions)
      accumulate(each, carried.subspan(next.size(), width_of(each)), entering(each), next);
    for (NodeId id : round.stores) values_.write(id, values_.value(id));
    return next;
  }

  // --- loop-carried values ---

  std::size_t width_of(const Running& each) const {
    return each.sum >= 0 || is_arg(node(each.id).reduce_kind) ? 2 : 1;
  }

  // On a GPU the loop carries a tile, and threads combine their parts once after the loop instead
  // of on every trip.
  bool reduces_late() const { return values_.for_gpu() && values_.col_is_reduced(); }

  // Broadcasts a scalar to the shape of the loop-carried values.
  ValueId spread(ValueId scalar) {
    const bool one = values_.col_is_reduced() && !reduces_late();
    return b_.broadcast_to(scalar, {tiling_.tile_rows, one ? 1 : tiling_.tile_cols});
  }

  void append_initial(const Running& each, std::vector<ValueId>& init) {
    const Node& reduction = node(each.id);
    const ReduceKind kind = reduction.reduce_kind;
    const DType operand = compute_dtype(node(reduction.operands[0].node).dtype);
    if (each.sum >= 0) {
      const OnlineSum start = online_start(b_, operand);
      init.insert(init.end(), {spread(start.top), spread(start.sum)});
      return;
    }
    init.push_back(spread(values_.identity(kind, accumulator_dtype(kind, operand))));
    if (is_arg(kind)) init.push_back(spread(b_.integer(0, values_.position_dtype())));
  }

  // The values that one trip contributes.
  std::vector<ValueId> entering(const Running& each) {
    std::vector<ValueId> args = values_.reduction_args(each.id);
    if (each.sum >= 0) {
      const OnlineSum element = online_element(b_, args[0]);
      return {element.top, element.sum};
    }
    if (values_.col_is_reduced() && !reduces_late())
      return b_.reduce(node(each.id).reduce_kind, args);
    return args;
  }

  void accumulate(const Running& each, std::span<const ValueId> kept,
                  std::span<const ValueId> entering, std::vector<ValueId>& next) {
    const ReduceKind kind = node(each.id).reduce_kind;
    if (each.sum >= 0) {
      const OnlineSum joined = online_join(b_, {kept[0], kept[1]}, {entering[0], entering[1]});
      next.insert(next.end(), {joined.top, joined.sum});
    } else if (is_arg(kind)) {
      const ValueId better = is_better(kind, kept[0], entering[0]);
      next.push_back(b_.pointwise(Op::where, {better, entering[0], kept[0]}));
      next.push_back(b_.pointwise(Op::where, {better, entering[1], kept[1]}));
    } else {
      next.push_back(b_.pointwise(info(kind).combine, {kept[0], entering[0]}));
    }
  }

  // Strictly better, or the first NaN: the earliest position wins ties.
  ValueId is_better(ReduceKind kind, ValueId kept, ValueId entering) {
    const ValueId better = b_.pointwise(info(kind).combine, {entering, kept});
    if (!is_floating(b_[kept].dtype)) return better;
    const ValueId kept_number = b_.pointwise(Op::logical_not, {b_.pointwise(Op::isnan, {kept})});
    const ValueId entering_nan = b_.pointwise(Op::isnan, {entering});
    return b_.pointwise(Op::logical_or,
                        {better, b_.pointwise(Op::logical_and, {entering_nan, kept_number})});
  }

  // Sets a reduction's value from the loop's results.
  void settle(const Running& each, std::span<const ValueId> left) {
    const Node& reduction = node(each.id);
    if (each.sum >= 0) {
      const OnlineSum total = online_total(b_, {left[0], left[1]}, reduces_late());
      values_.set_reduced(each.id, {&total.top, 1});
      values_.set_reduced(each.sum, {&total.sum, 1});
    } else if (reduces_late()) {
      values_.set_reduced(each.id, b_.reduce(reduction.reduce_kind, left));
    } else {
      values_.set_reduced(each.id, left);
    }
  }

  const Node& node(NodeId id) const { return values_.graph()[id]; }

  struct LoopAxis {
    int axis;
    ValueId count;
  };

  GroupValues& values_;
  Builder& b_;
  const Tiling& tiling_;
  const FusionGroup& group_;
  std::map<NodeId, NodeId> online_;  // from a maximum to its online sum

  std::vector<LoopAxis> loop_axes_;
  ValueId trips_ = tile::kNoValue;
  const std::int64_t at_once_;  // trips taken together
  bool is_long_ = false;
  bool has_many_trips_ = false;
};

}  // namespace

Kernel lower_rounds(const Plan& plan, GroupId group, const IterationSpace& space,
                    const Tiling& tiling, bool online) {
  GroupValues values(plan, group, space, tiling);
  RoundLowering lowering(values, space, tiling);
  if (online) lowering.set_online(online_sums(plan, group));
  lowering.run();
  return values.finish();
}

}  // namespace sinter
