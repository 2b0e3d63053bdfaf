// A test's view of the fake NVRTC. The library's symbol fake_nvrtc_state returns its state. In: the
// script. Out: the records.
#pragma once

#include <dlfcn.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace sinter {

struct FakeNvrtc {
  int major = 12;
  int minor = 8;
  std::vector<int> architectures = {75, 80, 90, 100};
  std::string image_prefix = "cubin of ";  // the fake driver rejects "damaged"

  int compiled = 0;
  std::vector<std::string> options;  // of the last compilation
};

inline FakeNvrtc& fresh_fake_nvrtc() {
  void* library = dlopen(SINTER_FAKE_NVRTC, RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  auto* state = reinterpret_cast<FakeNvrtc* (*)()>(dlsym(library, "fake_nvrtc_state"));
  if (!state) throw std::runtime_error(dlerror());
  return *state() = FakeNvrtc{};
}

}  // namespace sinter
