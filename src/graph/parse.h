// Programs as text: parse_graph() reads what to_string(Graph) prints, and what people write.
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

// Values for the sizes that a program declares ("sizes rows = 4096, cols = 1024").
using SizeValues = std::map<std::string, std::int64_t, std::less<>>;

// An input as the text writes it.
struct InputText {
  std::string name;
  std::vector<std::string> sizes;  // of each axis that is just a declared size its name, else ""
};

struct ParsedProgram {
  Graph graph;
  std::vector<InputText> inputs;
  std::vector<std::pair<std::string, std::int64_t>> sizes;  // as declared, with their values
};

// `sizes` replaces the defaults of declared sizes; `file` is named in errors.
ParsedProgram parse_program(std::string_view text, const SizeValues& sizes = {},
                            std::string_view file = {});
Graph parse_graph(std::string_view text, const SizeValues& sizes = {}, std::string_view file = {});

}  // namespace sinter
