// Atomic file writes: a reader sees the old file or the new one, never a part. In: a path and text.
// Out: the file; or a UserError under the caller's tag, an IoError if the disk is full or broken.
#pragma once

#include <string>
#include <string_view>

namespace sinter {

// Creates `directory` and its missing parents.
void make_directory(std::string_view op, const std::string& directory);
// Writes to a temporary name beside `path` and renames.
void write_file_atomically(std::string_view op, const std::string& path, std::string_view text);

}  // namespace sinter
