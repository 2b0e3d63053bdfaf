// Configs for GPUs: how a group's index space is cut into tiles, and how tiles lie on threads.
// In: an IterationSpace. Out: the heuristic's choice, and the others that are worth measuring.
#pragma once

#include <vector>

#include "src/lower/config.h"

namespace sinter {

Config choose_gpu_config(const IterationSpace& space, std::int64_t bytes, const Machine& machine);

// The heuristic's choice first. All compute the same values, those with the same order of additions
// the same bits; `same_bits` leaves out the others.
std::vector<Config> gpu_configs(const IterationSpace& space, std::int64_t bytes,
                                const Machine& machine, bool same_bits);

}  // namespace sinter
