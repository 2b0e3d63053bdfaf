// A test's view of the fake cuBLASLt. The library's symbol fake_cublaslt_state returns its state.
// In: the script. Out: the records.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace sinter {

struct FakeCublasLt {
  // The script. Statuses are those of the library; 0 is success.
  int create_status = 0;
  int heuristic_status = 0;
  int algorithm_state = 0;
  bool has_algorithms = true;
  std::int64_t least_alignment = 4;   // the smallest that has an algorithm, in bytes
  std::size_t aligned_workspace = 0;  // bytes for algorithms of 16-byte alignment
  std::size_t unaligned_workspace = 512;

  // The records.
  int products = 0;
  std::int64_t reduction_schemes = 0;  // allowed by the last query for an algorithm
};

inline FakeCublasLt& fresh_fake_cublaslt() {
  void* library = dlopen(SINTER_FAKE_CUBLASLT, RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  auto* state = reinterpret_cast<FakeCublasLt* (*)()>(dlsym(library, "fake_cublaslt_state"));
  if (!state) throw std::runtime_error(dlerror());
  return *state() = FakeCublasLt{};
}

}  // namespace sinter
