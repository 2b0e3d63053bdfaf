// libfake_cublaslt.so: the functions of cuBLASLt that Sinter calls. Products of f32 matrices are
// computed on the host, where the fake driver's memory is, by the layouts that the caller
// described. In: FakeCublasLt, set by the test. Out: products, and FakeCublasLt's records.
#define SINTER_FAKE_CUBLASLT ""  // only its loader needs the path
#include "tests/cuda/fake/fake_cublaslt.h"

#include <cstddef>
#include <cstdint>
#include <map>

#include "src/cuda/cublaslt.h"

namespace {

constexpr int kInvalidValue = 7;
constexpr std::uintptr_t kWorkspaceAlignment = 256;  // what the library needs on Hopper
constexpr std::int64_t kAnyReduction = 7;
constexpr std::int64_t kReduceInComputeType = 2;

sinter::FakeCublasLt g_fake;

// Descriptors, layouts and preferences: attributes by number.
struct Object {
  std::map<int, std::int64_t> attributes;
  std::int64_t stride = 0;

  std::int64_t get(int attribute, std::int64_t otherwise = 0) const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? otherwise : found->second;
  }
};

constexpr int kRows = -1, kCols = -2, kType = -3;

int make(void** object) {
  *object = new Object;
  return 0;
}

int remove(void* object) {
  delete static_cast<Object*>(object);
  return 0;
}

int set(void* object, int attribute, const void* value, std::size_t bytes) {
  static_cast<Object*>(object)->attributes[attribute] =
      bytes == 4 ? *static_cast<const std::int32_t*>(value)
                 : *static_cast<const std::int64_t*>(value);
  return 0;
}

float element(const Object& layout, const float* data, std::int64_t row, std::int64_t col) {
  return data[row + col * layout.stride];
}

}  // namespace

extern "C" {

sinter::FakeCublasLt* fake_cublaslt_state() { return &g_fake; }

const char* cublasLtGetStatusString(int status) {
  switch (status) {
    case 3:
      return "CUBLAS_STATUS_ALLOC_FAILED";
    case kInvalidValue:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case 15:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    default:
      return "unknown";
  }
}
int cublasLtCreate(void** handle) {
  if (g_fake.create_status != 0) return g_fake.create_status;
  return make(handle);
}
int cublasLtDestroy(void* handle) { return remove(handle); }
int cublasLtMatmulDescCreate(void** desc, int, int) { return make(desc); }
int cublasLtMatmulDescDestroy(void* desc) { return remove(desc); }
int cublasLtMatmulDescSetAttribute(void* desc, int attribute, const void* value, std::size_t size) {
  return set(desc, attribute, value, size);
}
int cublasLtMatrixLayoutCreate(void** layout, int type, std::uint64_t rows, std::uint64_t cols,
                               std::int64_t stride) {
  if (stride < static_cast<std::int64_t>(rows)) return kInvalidValue;
  make(layout);
  auto& object = *static_cast<Object*>(*layout);
  object.attributes = {{kRows, rows}, {kCols, cols}, {kType, type}};
  object.stride = stride;
  return 0;
}
int cublasLtMatrixLayoutDestroy(void* layout) { return remove(layout); }
int cublasLtMatrixLayoutSetAttribute(void* layout, int attribute, const void* value,
                                     std::size_t size) {
  return set(layout, attribute, value, size);
}
int cublasLtMatmulPreferenceCreate(void** preference) { return make(preference); }
int cublasLtMatmulPreferenceDestroy(void* preference) { return remove(preference); }
int cublasLtMatmulPreferenceSetAttribute(void* preference, int attribute, const void* value,
                                         std::size_t size) {
  return set(preference, attribute, value, size);
}

// The algorithm is the alignment that was asked for. Like the real library, this one allows partial
// sums in the output type unless told otherwise; Sinter must.
int cublasLtMatmulAlgoGetHeuristic(void*, void*, void* a, void*, void*, void*, void* preference,
                                   int, sinter::CublasLtAlgorithm* result, int* found) {
  const auto& wanted = *static_cast<Object*>(preference);
  const std::int64_t alignment = wanted.get(5, 256);
  g_fake.reduction_schemes = wanted.get(3, kAnyReduction);
  if (g_fake.reduction_schemes != kReduceInComputeType) return kInvalidValue;
  if (g_fake.heuristic_status != 0) return g_fake.heuristic_status;
  const bool is_f32 = static_cast<Object*>(a)->get(kType) == 0;
  *found = is_f32 && g_fake.has_algorithms && alignment >= g_fake.least_alignment ? 1 : 0;
  result->state = g_fake.algorithm_state;
  result->algorithm[0] = static_cast<std::uint64_t>(alignment);
  result->workspace_bytes = alignment == 16 ? g_fake.aligned_workspace : g_fake.unaligned_workspace;
  return 0;
}

int cublasLtMatmul(void*, void* desc, const void* alpha, const void* a, void* a_layout,
                   const void* b, void* b_layout, const void*, const void*, void*, void* d,
                   void* d_layout, const void* algorithm, void* workspace, std::size_t bytes,
                   sinter::CUstream) {
  const std::uint64_t alignment = *static_cast<const std::uint64_t*>(algorithm);
  for (const void* data : {a, b, static_cast<const void*>(d)})
    if (reinterpret_cast<std::uintptr_t>(data) % alignment != 0) return kInvalidValue;
  const auto scratch = reinterpret_cast<std::uintptr_t>(workspace);
  if (bytes > 0 && (!workspace || scratch % kWorkspaceAlignment != 0)) return kInvalidValue;
  const auto& A = *static_cast<Object*>(a_layout);
  const auto& B = *static_cast<Object*>(b_layout);
  const auto& D = *static_cast<Object*>(d_layout);
  const bool transposes_a = static_cast<Object*>(desc)->get(3) == 1;
  const bool transposes_b = static_cast<Object*>(desc)->get(4) == 1;
  const std::int64_t k = transposes_a ? A.get(kRows) : A.get(kCols);
  if (k != (transposes_b ? B.get(kCols) : B.get(kRows))) return kInvalidValue;
  if (D.get(kRows) != (transposes_a ? A.get(kCols) : A.get(kRows))) return kInvalidValue;
  if (D.get(kCols) != (transposes_b ? B.get(kRows) : B.get(kCols))) return kInvalidValue;
  ++g_fake.products;
  for (std::int64_t batch = 0; batch < D.get(5); ++batch) {
    const float* x = static_cast<const float*>(a) + batch * A.get(6);
    const float* y = static_cast<const float*>(b) + batch * B.get(6);
    float* z = static_cast<float*>(d) + batch * D.get(6);
    for (std::int64_t i = 0; i < D.get(kRows); ++i)
      for (std::int64_t j = 0; j < D.get(kCols); ++j) {
        float sum = 0;
        for (std::int64_t l = 0; l < k; ++l)
          sum += (transposes_a ? element(A, x, l, i) : element(A, x, i, l)) *
                 (transposes_b ? element(B, y, j, l) : element(B, y, l, j));
        z[i + j * D.stride] = *static_cast<const float*>(alpha) * sum;
      }
  }
  return 0;
}

}  // extern "C"
