// Checking many random programs: a batch of them is compiled together, then each is checked.
// In: seeds and who runs them. Out: what was seen; failures go to GoogleTest.
#pragma once

#include <cstdint>
#include <string>

#include "tests/fuzz/check.h"

namespace sinter::fuzz {

// The programs of seeds first, first + 1, ...; stops after a few failures.
Coverage check_seeds(std::uint64_t first, std::uint64_t count, const ChooseExecutors& executors);

// As many batches from `first` on as fit into the time; stops after a few failures.
Coverage check_for(double seconds, std::uint64_t first, const ChooseExecutors& executors);

std::string to_string(const Coverage& coverage);

// Every program fused at that place; for every so many seeds also operation by operation, and with
// the rounding of that.
ChooseExecutors executors_at(Place place, std::uint64_t others_every);

}  // namespace sinter::fuzz
