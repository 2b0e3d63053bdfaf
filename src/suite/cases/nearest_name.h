// What someone who mistyped a name may have meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sinter::suite {

// The one of `names` (at least one) that the fewest changed, added or missing letters lead to.
std::string nearest_name(std::string_view name, std::span<const std::string> names);

// "there are a, b and c", "there is just a". `names`: at least one.
std::string listed_names(std::span<const std::string> names);

// "there is no set 'qick'; did you mean quick?", and where none of `names` (at least one) is near
// "there is no set 'small'; there are quick and full". `what` is for people: "set".
std::string unknown_name(std::string_view what, std::string_view name,
                         std::span<const std::string> names);

}  // namespace sinter::suite
