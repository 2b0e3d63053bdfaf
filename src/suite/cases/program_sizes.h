// Names of programs in files and of their sizes, as the command line and the suite's rows write
// them. In: a path, a parsed program, a text like "4096x128". Out: sizes and texts.
#pragma once

#include <string>
#include <string_view>

#include "src/graph/parse.h"

namespace sinter::suite {

// A path ends in .sinter or contains '/'; a case's name does not.
bool is_program_path(std::string_view name);
// "my" of "some/my.sinter".
std::string program_stem(const std::string& path);
// "some/my.py", the same program for peers.
std::string script_beside(const std::string& path);

// "4096x128" gives the first declared size 4096 and the second 128. UserError under the tag `op`
// that names the program's `path` if the program declares other sizes.
SizeValues parse_sizes(std::string_view text, const ParsedProgram& program, std::string_view path,
                       std::string_view op);
// Number of sizes in the text.
std::size_t count_sizes(std::string_view text);
std::string size_names(const ParsedProgram& program);  // "rowsxcols"

std::string sizes_text(const ParsedProgram& program);  // "4096x128"; empty if there are none
std::string dtypes_text(const Graph& graph);           // of its inputs, each once: "f32,i64"

}  // namespace sinter::suite
