// Keeping the source of a kernel that did not compile, for the error message to point at.
// In: the text. Out: the path of a file, or nothing.
#pragma once

#include <string>

namespace sinter {

// "failed-<hash><ending>" in `directory`, which only its owner may write; in TMPDIR, under a name
// nobody could know, where that is empty or cannot be used. Empty if it could not be written.
std::string save_failed_source(const std::string& directory, const std::string& source,
                               const std::string& ending);

}  // namespace sinter
