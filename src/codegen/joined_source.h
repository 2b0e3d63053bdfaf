// Joins the texts of several kernels, so that the compiler starts only once.
// In: complete texts. Out: one text that holds all of them under distinct names.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter {

struct SourcePart {
  std::string text;
  std::vector<std::string> names;  // that may clash with other parts: namespaces, symbols
};

std::string join_sources(std::span<const SourcePart> parts);

// The name in the joined text of a name of part `part`.
std::string joined_name(const std::string& name, std::size_t part);

}  // namespace sinter
