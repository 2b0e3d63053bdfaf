// Sizes are given by position, as shapes of cases are.
#include "src/suite/cases/program_sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "src/base/check.h"

namespace sinter::suite {

bool is_program_path(std::string_view name) {
  return name.ends_with(".sinter") || name.find('/') != std::string_view::npos;
}

std::string program_stem(const std::string& path) {
  return std::filesystem::path(path).stem().string();
}

std::string script_beside(const std::string& path) {
  return std::filesystem::path(path).replace_extension(".py").string();
}

std::string size_names(const ParsedProgram& program) {
  std::vector<std::string> names;
  for (const auto& [name, value] : program.sizes) names.push_back(name);
  return fmt::format("{}", fmt::join(names, "x"));
}

SizeValues parse_sizes(std::string_view text, const ParsedProgram& program, std::string_view path,
                       std::string_view op) {
  if (program.sizes.empty()) fail_user(op, "{} declares no sizes, so it takes no --shape", path);
  SizeValues sizes;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (const auto& [name, unused] : program.sizes) {
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(at, end, value);
    const bool is_last = sizes.size() + 1 == program.sizes.size();
    if (error != std::errc() || (is_last ? stop != end : stop == end || *stop != 'x'))
      fail_user(op, "'{}' does not give the sizes of {}; expected {}", text, path,
                size_names(program));
    sizes[name] = value;
    at = stop + (is_last ? 0 : 1);
  }
  return sizes;
}

std::size_t count_sizes(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), 'x')) + 1;
}

std::string sizes_text(const ParsedProgram& program) {
  std::vector<std::int64_t> values;
  for (const auto& [name, value] : program.sizes) values.push_back(value);
  return fmt::format("{}", fmt::join(values, "x"));
}

std::string dtypes_text(const Graph& graph) {
  std::vector<std::string_view> names;
  for (const NodeId input : graph.inputs) {
    const std::string_view name = name_of(graph[input].dtype);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, ","));
}

}  // namespace sinter::suite
