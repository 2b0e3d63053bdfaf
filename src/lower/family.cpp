// The table, and functions that work on any row.
#include "src/lower/family.h"

#include <algorithm>
#include <array>

#include "src/base/check.h"
#include "src/lower/families.h"

namespace sinter {

std::span<const Family> families() {
  static const std::array<Family, std::variant_size_v<Config>> table{
      library_family(), matmul_family(), pointwise_family(),
      row_family(),     column_family(), chunked_family()};
  return table;
}

const Family& family_of(const Config& config) { return families()[config.index()]; }

const Family* find_family(std::string_view name) {
  for (const Family& family : families())
    if (family.name == name) return &family;
  return nullptr;
}

bool is_elementwise(const Config& config) {
  const Family& family = family_of(config);
  return family.is_elementwise && family.is_elementwise(config);
}

AloneRule alone_rule(const Machine& machine) {
  if (machine.matmul_library == MatmulLibrary::none) return nullptr;
  return [machine](const Graph& graph, const Node& node, const View& result) {
    std::string_view reason;
    for (const Family& family : families())
      if (reason.empty() && family.runs_alone)
        reason = family.runs_alone(graph, node, result, machine);
    return reason;
  };
}

std::string why_chosen(const IterationSpace& space, const Machine& machine, const Config& config) {
  std::string refusal;
  for (const Family& family : families().first(config.index())) {
    const Offer offer = family.offer(space, machine, Wanted::best);
    if (!offer.configs.empty())
      return fmt::format("it was measured to be faster than {}", to_string(offer.configs.front()));
    refusal = offer.refusal;
  }
  return refusal.empty() ? std::string(family_of(config).merit) : refusal;
}

Config choose_config(const IterationSpace& space, const Machine& machine) {
  return best_offer(space, machine).configs.front();
}

Offer best_offer(const IterationSpace& space, const Machine& machine) {
  for (const Family& family : families())
    if (Offer offer = family.offer(space, machine, Wanted::best); !offer.configs.empty())
      return offer;
  SINTER_ASSERT(false, "no family computes a group with {} axes", space.axes.size());
}

std::vector<Config> candidate_configs(const IterationSpace& space, const Machine& machine,
                                      bool same_bits) {
  same_bits |= space.batch_invariant;
  std::vector<Config> candidates;
  for (const Family& family : families())
    for (const Config& config : family.offer(space, machine, Wanted::all).configs) {
      if (same_bits && !candidates.empty() &&
          (candidates.front().index() != config.index() ||
           !family.same_bits(candidates.front(), config)))
        continue;
      if (std::find(candidates.begin(), candidates.end(), config) == candidates.end())
        candidates.push_back(config);
    }
  return candidates;
}

Kernel lower(const Plan& plan, GroupId group, const IterationSpace& space, const Config& config) {
  Kernel kernel = family_of(config).lower(plan, group, space, config);
  kernel.config = config;
  if (tile::TileProgram* program = tile_program(kernel.body))
    program->separate_ops = plan.separate_ops;
#ifndef NDEBUG
  verify(kernel);
#endif
  return kernel;
}

}  // namespace sinter
