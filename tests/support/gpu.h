// Whether this machine has a device, above all a GPU, for tests that need one. They skip themselves
// if there is none, and have "Gpu" in their names, which gives them the label gpu
// (tests/CMakeLists.txt).
#pragma once

#include <sinter/error.h>

#include <string>

#include "src/api/devices.h"

namespace sinter::testing_support {

// Empty, or the reason to skip.
inline std::string why_no_device(const std::string& name) {
  try {
    open_device(name)->synchronize();
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "";
}

}  // namespace sinter::testing_support

// Use in a test or its SetUp().
#define SINTER_NEEDS_DEVICE(name)                                                             \
  do {                                                                                        \
    if (const std::string why = ::sinter::testing_support::why_no_device(name); !why.empty()) \
      GTEST_SKIP() << why;                                                                    \
  } while (false)
#define SINTER_NEEDS_GPU() SINTER_NEEDS_DEVICE("cuda")
