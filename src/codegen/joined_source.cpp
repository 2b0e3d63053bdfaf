// Renames with macros, which are undefined after their part, like the part's own macros.
#include "src/codegen/joined_source.h"

#include <fmt/format.h>

#include <set>

namespace sinter {
namespace {

// The macros the text defines.
std::set<std::string> macros_of(std::string_view text) {
  constexpr std::string_view kDefine = "#define ";
  std::set<std::string> macros;
  for (std::size_t at = text.find(kDefine); at != std::string_view::npos;
       at = text.find(kDefine, at)) {
    at += kDefine.size();
    macros.emplace(text.substr(at, text.find_first_of("( \n", at) - at));
  }
  return macros;
}

}  // namespace

std::string joined_name(const std::string& name, std::size_t part) {
  return fmt::format("{}_{}", name, part);
}

std::string join_sources(std::span<const SourcePart> parts) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    text += "#pragma GCC push_options\n";
    for (const std::string& name : parts[i].names)
      text += fmt::format("#define {} {}\n", name, joined_name(name, i));
    text += parts[i].text;
    std::set<std::string> macros = macros_of(parts[i].text);
    macros.insert(parts[i].names.begin(), parts[i].names.end());
    for (const std::string& macro : macros) text += fmt::format("#undef {}\n", macro);
    text += "#pragma GCC pop_options\n";
  }
  return text;
}

}  // namespace sinter
