// What someone who mistyped a name may have meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sinter::suite {

// The one of `names` (at least one) that the fewest changed, added or missing letters lead to.
std::string nearest_name(std::string_view name, std::span<const std::string> names);

}  // namespace sinter::suite
