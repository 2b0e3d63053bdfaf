// cuBLASLt, NVIDIA's library of matrix products, loaded at run time like NVRTC. In: paths. Out: the
// functions that Sinter calls and a handle for a GPU, or why there are none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/cuda/context.h"

namespace sinter {

using CublasStatus = int;  // 0 is success

// The library's heuristic result: an algorithm and what it needs.
struct CublasLtAlgorithm {
  std::uint64_t algorithm[8] = {};
  std::size_t workspace_bytes = 0;
  CublasStatus state = 0;
  float waves = 0;
  int reserved[4] = {};
};

// Under the library's names, without the prefix. Objects of the library are void*.
struct CublasLtFunctions {
  const char* (*status_string)(CublasStatus status) = nullptr;
  CublasStatus (*create)(void** handle) = nullptr;
  CublasStatus (*destroy)(void* handle) = nullptr;
  CublasStatus (*desc_create)(void** desc, int compute, int scale) = nullptr;
  CublasStatus (*desc_destroy)(void* desc) = nullptr;
  CublasStatus (*desc_set)(void* desc, int attribute, const void* value,
                           std::size_t bytes) = nullptr;
  CublasStatus (*layout_create)(void** layout, int dtype, std::uint64_t rows, std::uint64_t cols,
                                std::int64_t stride) = nullptr;
  CublasStatus (*layout_destroy)(void* layout) = nullptr;
  CublasStatus (*layout_set)(void* layout, int attribute, const void* value,
                             std::size_t bytes) = nullptr;
  CublasStatus (*preference_create)(void** preference) = nullptr;
  CublasStatus (*preference_destroy)(void* preference) = nullptr;
  CublasStatus (*preference_set)(void* preference, int attribute, const void* value,
                                 std::size_t bytes) = nullptr;
  CublasStatus (*heuristic)(void* handle, void* desc, void* a, void* b, void* c, void* d,
                            void* preference, int wanted, CublasLtAlgorithm* results,
                            int* found) = nullptr;
  CublasStatus (*matmul)(void* handle, void* desc, const void* alpha, const void* a, void* a_layout,
                         const void* b, void* b_layout, const void* beta, const void* c,
                         void* c_layout, void* d, void* d_layout, const void* algorithm,
                         void* workspace, std::size_t workspace_bytes, CUstream stream) = nullptr;

  // The name of the first missing function; null if all are present.
  const char* bind(void* library);
  // "[cublasLtMatmul] CUBLAS_STATUS_NOT_SUPPORTED (15)".
  std::string failure_text(const char* call, CublasStatus status) const;
  // DeviceError unless the status is success.
  void check(const char* call, CublasStatus status) const;
};

class CublasLt;

// A library that was looked for.
struct LoadedCublasLt {
  std::shared_ptr<const CublasLt> library;  // null: there is none that works
  std::string refusal;                      // why not
};

// The library with a handle for one GPU. Loading takes 50 ms or more, so it happens at the first
// product that uses the library.
class CublasLt {
 public:
  // The first of `paths` that is cuBLASLt and creates a handle. The library stays loaded until the
  // process exits.
  static LoadedCublasLt load(const std::vector<std::string>& paths, CudaContextPtr primary);
  ~CublasLt();
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;

  const CublasLtFunctions& functions() const { return functions_; }
  void* handle() const { return handle_; }
  const CudaContext& context() const { return *primary_; }

 private:
  CublasLt(const CublasLtFunctions& functions, CudaContextPtr primary, void* handle);

  CublasLtFunctions functions_;
  CudaContextPtr primary_;
  void* handle_;
};

}  // namespace sinter
