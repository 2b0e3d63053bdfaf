// TunedChoice: the part of a Config that tuning decides, without what follows from the sizes, so
// that it can be stored in a file and found among the candidates for another size. In: a Config.
// Out: its choice, and the candidate that a choice selects.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/lower/family.h"

namespace sinter {

struct TunedChoice {
  std::string family;                // a row of the lowering table
  std::vector<std::int64_t> values;  // by that row's fields
  friend bool operator==(const TunedChoice&, const TunedChoice&) = default;
};

TunedChoice choice_of(const Config& config);

// Why `value` is invalid for the field on any machine; empty if it is valid.
std::string refusal_of(const ConfigField& field, std::int64_t value);

// The candidate that `choice` selects; nullopt if there is none. One that differs only in fields
// that follow from the size is accepted if there is no exact match.
std::optional<Config> matching(const TunedChoice& choice, std::span<const Config> candidates);

}  // namespace sinter
