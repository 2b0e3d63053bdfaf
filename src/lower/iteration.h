// IterationSpace: the index space of a group with its axes merged, and every access to memory as
// strides over those axes. Plan and group in; what choose_config() and lower() look at out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/fuse/plan.h"

namespace sinter {

enum class Level : std::uint8_t { full, row };

// One way of touching memory: an operand read from outside the group, or a value stored.
struct Access {
  NodeId node = -1;  // read: the source node; write: the node stored
  View view;         // read: the operand's view, to find the access again
  Level level = Level::full;
  bool write = false;
  int element_bytes = 4;              // 0: a range, which is no memory
  std::int64_t offset = 0;            // of its lowest element in its buffer, in elements
  std::vector<std::int64_t> strides;  // by axis of the space
  std::int64_t start = 0;             // the first element's place above the lowest
};

struct SpaceAxis {
  std::int64_t size = 1;
  bool reduced = false;
};

struct IterationSpace {
  std::vector<SpaceAxis> axes;  // sizes of 1 are gone, neighbours that all accesses agree on merged
  std::vector<Access> accesses;
  bool has_online_sums = false;  // see online.h
  int reductions = 0;
  bool needs_rows_again = false;  // elements are needed again once their row is reduced
  int kept_computed = 0;          // tiles kept until then that were computed at some cost

  std::vector<int> kept_axes() const;
  std::vector<int> reduced_axes() const;
  const Access& find_read(const Operand& operand, Level level) const;
  const Access& find_write(NodeId node) const;
};

// Whether an element's place in its buffer may need more than 32 bits, with axes of these sizes.
inline constexpr std::int64_t kMostNarrowPlace = (std::int64_t{1} << 31) - (1 << 20);
bool has_wide_places(const Access& access, std::span<const std::int64_t> sizes);

// Whether the node has the domain's full shape or only its kept axes.
Level level_of(const Plan& plan, const Domain& domain, NodeId node);
// The level at which a node reads its operands.
Level reading_level(const Plan& plan, const Domain& domain, NodeId node);

IterationSpace iteration_space(const Plan& plan, int group);

}  // namespace sinter
