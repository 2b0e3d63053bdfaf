// Several kernels' texts as one, so that a compiler starts once for all of them.
// In: complete texts. Out: one text that holds them all under names of their own.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter {

struct SourcePart {
  std::string text;
  std::vector<std::string> names;  // that other parts may have too: namespaces, symbols
};

std::string join_sources(std::span<const SourcePart> parts);

// What a name of part number `part` is called in the joined text.
std::string joined_name(const std::string& name, std::size_t part);

}  // namespace sinter
