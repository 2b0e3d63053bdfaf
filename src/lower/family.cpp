// The table, and what works on any row of it.
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

Config choose_config(const IterationSpace& space, const Machine& machine) {
  for (const Family& family : families())
    if (Offer offer = family.offer(space, machine, Wanted::best); !offer.configs.empty())
      return std::move(offer.configs.front());
  SINTER_ASSERT(false, "no family computes a group with {} axes", space.axes.size());
}

std::vector<Config> candidate_configs(const IterationSpace& space, const Machine& machine,
                                      bool same_bits) {
  std::vector<Config> candidates;
  for (const Family& family : families())
    for (Config& config : family.offer(space, machine, Wanted::all).configs) {
      if (same_bits && !candidates.empty() &&
          (candidates.front().index() != config.index() ||
           !family.same_bits(candidates.front(), config)))
        continue;
      if (std::find(candidates.begin(), candidates.end(), config) == candidates.end())
        candidates.push_back(std::move(config));
    }
  return candidates;
}

Kernel lower(const Plan& plan, int group, const IterationSpace& space, const Config& config) {
  Kernel kernel = family_of(config).lower(plan, group, space, config);
  kernel.config = config;
  return kernel;
}

}  // namespace sinter
