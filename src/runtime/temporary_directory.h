// A private directory (0700) under $TMPDIR, removed with its contents by its owner's destructor, at
// the latest when the process exits. A forked child leaves it alone. Leftovers of a killed process
// are removed by the next one that creates a directory.
#pragma once

#include <string>

namespace sinter {

class TemporaryDirectory {
 public:
  TemporaryDirectory();  // DeviceError if it cannot be created
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// $TMPDIR, else /tmp.
std::string temporary_root();

// Removes all of this process's directories. Async-signal-safe: takes no lock and does not
// allocate.
void remove_temporary_directories_in_handler();

}  // namespace sinter
