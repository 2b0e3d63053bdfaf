// A private directory (0700) under $TMPDIR, removed with its files when its owner goes, at the
// latest when the process exits. A forked child leaves it alone. What a killed process left is
// removed by the next one that makes a directory.
#pragma once

#include <string>

namespace sinter {

class TemporaryDirectory {
 public:
  TemporaryDirectory();  // DeviceError where none can be made
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// $TMPDIR, else /tmp.
std::string temporary_root();

// All of this process. For a signal handler that ends it: takes no lock and allocates nothing.
void remove_temporary_directories_in_handler();

}  // namespace sinter
