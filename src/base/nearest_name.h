// Suggestions for mistyped names.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sinter {

// The one of `names` (not empty) with the smallest edit distance.
std::string nearest_name(std::string_view name, std::span<const std::string> names);

// "there are a, b and c", "there is just a". `names` is not empty.
std::string listed_names(std::span<const std::string> names);

// "there is no set 'qick'; did you mean quick?", or if none of `names` (not empty) is close, "there
// is no set 'small'; there are quick and full". `what` is the kind of name: "set".
std::string unknown_name(std::string_view what, std::string_view name,
                         std::span<const std::string> names);

}  // namespace sinter
