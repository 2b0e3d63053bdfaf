// GroupValues: emits the TileProgram of a group: its parameters, memory offsets, and the values of
// its nodes on demand. In: a group, its space and tiling. Out: tile values that the lowerings
// (whole_tiles.h, rounds.h) combine, and the finished Kernel.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/lower/iteration.h"
#include "src/lower/kernel.h"
#include "src/tile/builder.h"

namespace sinter {

class GroupValues {
 public:
  // Declares the parameters and computes the tile's position from the program id.
  GroupValues(const Plan& plan, GroupId group, const IterationSpace& space, const Tiling& tiling);

  tile::Builder& builder() { return b_; }
  const Graph& graph() const { return plan_.graph; }
  const FusionGroup& group() const { return group_; }
  bool in_group(NodeId id) const;
  // Whether a node has one value per row, not one per element along the reduced axes.
  bool is_per_row(NodeId id) const { return group_.is_per_row(id); }
  bool col_is_reduced() const;
  bool for_gpu() const { return tiling_.mapping.threads > 0; }

  std::int64_t size(AxisId axis) const { return space_.size(axis); }
  tile::ValueId size_value(AxisId axis) const { return sizes_[axis]; }
  AxisList reduced_axes() const { return space_.reduced_axes(); }
  tile::ValueId scalar_param(const std::string& name, std::int64_t value);

  // Sets the position along an axis that a loop iterates over: index `at`, or, for the column axis,
  // the tile that starts at column `at` * tile_cols. The column axis must be set last.
  void move_to(AxisId axis, tile::ValueId at);
  // The number of tiles along the column axis.
  std::int64_t col_tiles() const;

  // A node's value; computes pointwise nodes on demand. Reductions must already be set.
  tile::ValueId value(NodeId id);
  // `left`: the reduction's result, (value) or (value, position).
  void set_reduced(NodeId id, std::span<const tile::ValueId> left);
  void forget_inner();  // drops cached values along the reduced axes, and cached loads
  void forget_loads();  // later code loads again
  // Whether reading a tensor again counts as another pass over it (Kernel::passes). Copies of a
  // loop's body belong to one pass.
  void count_passes(bool counts) { counts_passes_ = counts; }
  bool counts_passes() const { return counts_passes_; }

  // A reduction's arguments, (value) or (value, position); masked-off lanes hold the identity.
  std::vector<tile::ValueId> reduction_args(NodeId id);
  // The identity element: 0 for a sum, the lowest value for a maximum.
  tile::ValueId identity(ReduceKind kind, DType dtype);
  DType position_dtype() const;

  void write(NodeId id, tile::ValueId value);

  Kernel finish();

 private:
  // None for a range whose elements are their indices.
  struct RangeParams {
    tile::ValueId start = tile::kNoValue;
    tile::ValueId step = tile::kNoValue;
  };

  // For a padded view: the bounds of its window, kNoValue where it reaches the axis' end.
  struct WindowParams {
    struct Bounds {
      AxisId axis = 0;
      tile::ValueId first = tile::kNoValue;
      tile::ValueId last = tile::kNoValue;
    };
    std::vector<Bounds> bounds;
    tile::ValueId fill = tile::kNoValue;  // kNoValue: 0
  };

  struct SplitParams {
    tile::ValueId inner = tile::kNoValue;
    tile::ValueId outer_stride = tile::kNoValue;
    tile::ValueId inner_stride = tile::kNoValue;
  };

  bool needs_wide_index() const;
  tile::ValueId extent_param(const std::string& name, std::int64_t value,
                             std::int64_t at_least = 0);
  std::int64_t least_size(AxisId axis) const;
  tile::ValueId number_param(const std::string& name, const Scalar& value, DType dtype);
  void declare_parameters();
  RangeParams declare_range(const std::string& name, const Node& node, std::int64_t offset);
  bool is_dense_row(const Access& access, AxisId axis) const;
  tile::ValueId stride_param(const std::string& name, std::int64_t stride);
  SplitParams declare_split(const std::string& name, const Access& access);
  WindowParams declare_windows(const std::string& name, const Access& access);
  void declare_index_bound(NodeId id);
  void declare_constant(NodeId id);
  bool is_reused(const Access& access) const;

  void locate_program();
  void set_tile_axis(AxisId axis, tile::Axis along, std::int64_t count, tile::ValueId block);

  void align_columns(tile::ValueId positions);
  bool is_aligned(const Access& access) const;
  std::int64_t lead(const Access& access) const;
  tile::ValueId uneven_offset(const Access& access);
  tile::ValueId first_column();

  std::size_t position_of(const Access& access) const;
  tile::ValueId both(tile::ValueId a, tile::ValueId b);
  tile::ValueId offsets(const Access& access);
  tile::ValueId read_mask(const Access& access);
  tile::ValueId window_mask(const Access& access);
  tile::ValueId zero(DType dtype);
  tile::ValueId read(const Access& access);
  tile::ValueId read_inside(const Access& access, tile::ValueId window);
  tile::ValueId row_position();
  tile::ValueId operand_value(const Operand& operand, bool per_row);

  const Plan& plan_;
  GroupId index_of_group_;
  const FusionGroup& group_;
  const IterationSpace& space_;
  Tiling tiling_;
  tile::Builder b_;
  Kernel kernel_;

  std::vector<tile::BufferId> buffers_;         // by access; -1 for a range
  std::vector<ByAxis<tile::ValueId>> strides_;  // by access
  std::vector<tile::ValueId> starts_;           // by access; kNoValue: 0
  std::vector<RangeParams> range_params_;       // by access
  std::vector<WindowParams> window_params_;     // by access
  std::vector<SplitParams> split_params_;       // by access
  std::vector<int> times_read_;                 // by access
  bool counts_passes_ = true;
  ByAxis<tile::ValueId> sizes_;
  ByAxis<tile::ValueId> index_;  // the indices this tile covers
  std::map<NodeId, tile::ValueId> constants_;
  std::map<NodeId, tile::ValueId> index_bounds_;  // by comparison of an index with a constant
  tile::ValueId row_mask_ = tile::kNoValue;
  tile::ValueId col_mask_ = tile::kNoValue;

  // The part of an offset that varies within a vector, by the start and strides it consists of.
  std::map<std::pair<std::int64_t, std::vector<std::int64_t>>, tile::ValueId> uneven_;

  std::map<NodeId, tile::ValueId> inner_;  // values along the reduced axes, for this round
  std::map<NodeId, tile::ValueId> per_row_;
  std::map<std::size_t, tile::ValueId> loads_;  // by access
};

}  // namespace sinter
