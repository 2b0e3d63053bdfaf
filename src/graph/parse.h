// Parses programs: parse_graph() reads the output of to_string(Graph) and handwritten programs.
// docs/TEXT.md describes the format. Every mistake is a UserError with its line and column.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/graph/graph.h"

namespace sinter {

// Values for the sizes a program declares ("sizes rows = 4096, cols = 1024").
using SizeValues = std::map<std::string, std::int64_t, std::less<>>;

// An input as written in the text.
struct InputText {
  std::string name;
  std::vector<std::string> sizes;  // by axis: the declared size it names, or "" for expressions
};

struct ParsedProgram {
  Graph graph;
  std::vector<InputText> inputs;
  std::vector<std::pair<std::string, std::int64_t>> sizes;  // in declaration order
};

// `sizes` replaces the defaults of declared sizes; `file` is named in errors.
ParsedProgram parse_program(std::string_view text, const SizeValues& sizes = {},
                            std::string_view file = {});
Graph parse_graph(std::string_view text, const SizeValues& sizes = {}, std::string_view file = {});

}  // namespace sinter
