// Writing a file so that a reader sees the old one or the new one, never half of it.
#pragma once

#include <string>

namespace sinter::suite {

// Makes `directory` where it is missing. UserError where that cannot be done.
void make_directory(const std::string& directory);
// To a temporary name beside `path`, then renamed. UserError where that cannot be done.
void write_file_atomically(const std::string& path, const std::string& text);

}  // namespace sinter::suite
