// Writing a file so that a reader sees the old one or the new one, never half of it.
// In: a path and text. Out: the file, or under the caller's tag UserError, IoError where the disk
// is full or broken.
#pragma once

#include <string>
#include <string_view>

namespace sinter {

// Makes `directory` and those above it, where they are missing.
void make_directory(std::string_view op, const std::string& directory);
// To a temporary name beside `path`, then renamed.
void write_file_atomically(std::string_view op, const std::string& path, std::string_view text);

}  // namespace sinter
