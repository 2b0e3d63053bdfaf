// Checking many random programs: a batch of them is compiled together, then each is checked.
// In: seeds and executors. Out: the coverage; failures go to GoogleTest.
#pragma once

#include <cstdint>
#include <string>

#include "tests/fuzz/check.h"

namespace sinter::fuzz {

// The programs of seeds first, first + 1, ...; stops after a few failures.
Coverage check_seeds(std::uint64_t first, std::uint64_t count, const ChooseExecutors& executors);

// As many batches from `first` on as the time allows; stops after a few failures.
Coverage check_for(double seconds, std::uint64_t first, const ChooseExecutors& executors);

std::string to_string(const Coverage& coverage);

// Every program fused on that executor; for some seeds also operation by operation, and with eager
// rounding.
ChooseExecutors executors_at(Place place, std::uint64_t others_every);

}  // namespace sinter::fuzz
