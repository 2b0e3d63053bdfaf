// Shared by the files of libfake_cuda.so: its state, its codes, and the functions they define. In:
// src/cuda/driver.def. Out: declarations.
#pragma once

#include <mutex>
#include <string>

#include "src/cuda/driver.h"
#include "tests/cuda/fake/fake_driver.h"

namespace fake_cuda {

extern sinter::FakeCuda g_fake;
extern std::recursive_mutex g_mutex;  // like the driver, thread-safe

inline constexpr sinter::CUresult kInvalidValue = 1;
inline constexpr sinter::CUresult kInvalidImage = 200;
inline constexpr sinter::CUresult kInvalidContext = 201;
inline constexpr sinter::CUresult kNotFound = 500;

inline constexpr int kFakeMultiprocessors = 132;
inline constexpr int kFakeSharedBytes = 100 << 10;  // of each

// Counts the call; returns whether it should fail.
sinter::CUresult entered(const char* call);
// As in the driver, calls that need a context fail without one.
sinter::CUresult entered_context(const char* call);
void log_on_stream(const std::string& what, sinter::CUstream stream);

}  // namespace fake_cuda

// Returns from the calling function if the call should fail; otherwise holds the lock for the rest
// of it.
#define SINTER_FAKE_ENTER(check)                          \
  if (const sinter::CUresult code_ = check) return code_; \
  const std::lock_guard lock_(fake_cuda::g_mutex)

// The symbols are the global ones of a C library.
using namespace sinter;  // NOLINT

extern "C" {
#define SINTER_CUDA_CALL(member, called, symbol, ...) CUresult symbol(__VA_ARGS__);
#include "src/cuda/driver.def"
#undef SINTER_CUDA_CALL
}
