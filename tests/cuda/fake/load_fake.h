// Loads the fake driver and hands out its state, as new.
// In: nothing, or a path. Out: FakeCuda&; CudaDriver::load() on its path uses it.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>

#include "tests/cuda/fake/fake_driver.h"

namespace sinter {

// The library's state lives as long as the process, so each test starts by resetting it.
inline FakeCuda& fresh_fake(const char* path = SINTER_FAKE_CUDA) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  auto* state = reinterpret_cast<FakeCuda* (*)()>(dlsym(library, "fake_cuda_state"));
  if (!state) throw std::runtime_error(dlerror());
  FakeCuda& fake = *state();
  for (const auto& [address, bytes] : fake.allocations) std::free(reinterpret_cast<void*>(address));
  fake.~FakeCuda();
  return *new (&fake) FakeCuda;
}

}  // namespace sinter
