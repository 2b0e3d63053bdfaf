// Saves the source of a kernel that did not compile, for the error message to point at. In: the
// text. Out: the file's path, or empty.
#pragma once

#include <string>

namespace sinter {

// Writes "failed-<hash><ending>" to `directory`, which only its owner may write; if that is empty
// or unusable, an unpredictable name in TMPDIR. Empty if neither could be written.
std::string save_failed_source(const std::string& directory, const std::string& source,
                               const std::string& ending);

}  // namespace sinter
