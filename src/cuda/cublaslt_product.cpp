// cuBLASLt is column-major: it sees our row-major matrices as transposed. So it computes
// c' (n x m) = b' (n x k) a' (k x m), with b as its first operand.
#include "src/cuda/cublaslt_product.h"

#include <utility>

#include "src/base/check.h"

namespace sinter {
namespace {

// Values of the library's enums.
constexpr int kCompute32 = 68;
constexpr int kCompute64 = 70;
constexpr int kDescTransposeA = 3;
constexpr int kDescTransposeB = 4;
constexpr int kLayoutBatchCount = 5;
constexpr int kLayoutBatchStride = 6;
constexpr int kPreferenceWorkspace = 1;
constexpr int kPreferenceReductions = 3;
constexpr int kPreferenceAlignments[] = {5, 6, 7, 8};  // of a, b, c, d
constexpr std::uint32_t kReduceInComputeType = 2;

constexpr std::size_t kMostWorkspace = std::size_t{32} << 20;

int data_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return 0;
    case DType::f64:
      return 1;
    case DType::f16:
      return 2;
    case DType::bf16:
      return 14;
    default:
      break;
  }
  SINTER_ASSERT(false, "cuBLASLt multiplies no {}", name_of(dtype));
}

// Calls the library until a call fails; later calls are skipped.
class Preparation {
 public:
  Preparation(const CublasLt& library, const LibraryMatmul& call)
      : library_(library), lt_(library.functions()), call_(call) {}

  PreparedProduct run() {
    CublasLtProduct product;
    product.desc = make_desc();
    product.b = layout_of(call_.b, call_.dtype, call_.k, call_.n);
    product.a = layout_of(call_.a, call_.dtype, call_.m, call_.k);
    product.c = layout_of(call_.c, call_.result, call_.m, call_.n);
    product.aligned = algorithm_for(product, kCublasLtAlignment);
    if (!refusal_.empty()) return {std::nullopt, refusal_};
    const CublasLtAlgorithm unaligned = algorithm_for(product, size_of(call_.dtype));
    if (refusal_.empty())
      product.unaligned = unaligned;
    else if (has_gaps(call_.c, call_.m, call_.n))  // it could not be copied as one block
      return {std::nullopt, refusal_};
    return {std::move(product), ""};
  }

 private:
  template <typename Function, typename... Args>
  void try_call(const char* name, Function function, Args... args) {
    if (!refusal_.empty()) return;
    if (const CublasStatus status = function(args...); status != 0)
      refusal_ = lt_.failure_text(name, status);
  }

  CublasLtObject make_desc() {
    const bool is_double = call_.dtype == DType::f64;
    void* desc = nullptr;
    try_call("cublasLtMatmulDescCreate", lt_.desc_create, &desc,
             is_double ? kCompute64 : kCompute32, data_type(is_double ? DType::f64 : DType::f32));
    CublasLtObject object(desc, {lt_.desc_destroy});
    set_transposed(desc, kDescTransposeA, call_.b.is_transposed);
    set_transposed(desc, kDescTransposeB, call_.a.is_transposed);
    return object;
  }

  void set_transposed(void* desc, int attribute, bool is_transposed) {
    const std::int32_t value = is_transposed ? 1 : 0;
    try_call("cublasLtMatmulDescSetAttribute", lt_.desc_set, desc, attribute, &value, sizeof value);
  }

  // Layout of our stored `rows` x `cols` matrix: its rows are the library's columns.
  CublasLtObject layout_of(const LibraryMatrix& matrix, DType dtype, std::int64_t rows,
                           std::int64_t cols) {
    if (matrix.is_transposed) std::swap(rows, cols);
    void* layout = nullptr;
    try_call("cublasLtMatrixLayoutCreate", lt_.layout_create, &layout, data_type(dtype),
             static_cast<std::uint64_t>(cols), static_cast<std::uint64_t>(rows), matrix.line);
    CublasLtObject object(layout, {lt_.layout_destroy});
    const auto count = static_cast<std::int32_t>(call_.batch);
    const char* const set = "cublasLtMatrixLayoutSetAttribute";
    try_call(set, lt_.layout_set, layout, kLayoutBatchCount, &count, sizeof count);
    try_call(set, lt_.layout_set, layout, kLayoutBatchStride, &matrix.batch, sizeof matrix.batch);
    return object;
  }

  // Partial sums of a split k are added in the compute type: f16 and bf16 accumulate in f32.
  CublasLtObject make_preference(std::uint32_t alignment) {
    void* preference = nullptr;
    try_call("cublasLtMatmulPreferenceCreate", lt_.preference_create, &preference);
    CublasLtObject object(preference, {lt_.preference_destroy});
    const auto set = [&](int attribute, const auto& value) {
      try_call("cublasLtMatmulPreferenceSetAttribute", lt_.preference_set, preference, attribute,
               &value, sizeof value);
    };
    set(kPreferenceWorkspace, kMostWorkspace);
    set(kPreferenceReductions, kReduceInComputeType);
    for (int attribute : kPreferenceAlignments) set(attribute, alignment);
    return object;
  }

  // For buffers that start at multiples of `alignment` bytes.
  CublasLtAlgorithm algorithm_for(const CublasLtProduct& product, std::size_t alignment) {
    const CublasLtObject preference = make_preference(static_cast<std::uint32_t>(alignment));
    const char* const name = "cublasLtMatmulAlgoGetHeuristic";
    CublasLtAlgorithm algorithm;
    int found = 0;
    try_call(name, lt_.heuristic, library_.handle(), product.desc.get(), product.b.get(),
             product.a.get(), product.c.get(), product.c.get(), preference.get(), 1, &algorithm,
             &found);
    if (!refusal_.empty()) return algorithm;
    if (found == 0)
      refusal_ = fmt::format("[{}] no algorithm for buffers aligned to {} bytes", name, alignment);
    else if (algorithm.state != 0)
      refusal_ = lt_.failure_text(name, algorithm.state);
    return algorithm;
  }

  // Whether there are other elements between those of the matrices.
  bool has_gaps(const LibraryMatrix& matrix, std::int64_t rows, std::int64_t cols) const {
    return elements_of(matrix, rows, cols, call_.batch) != call_.batch * rows * cols;
  }

  const CublasLt& library_;
  const CublasLtFunctions& lt_;
  const LibraryMatmul& call_;
  std::string refusal_;  // of the first failed call
};

}  // namespace

PreparedProduct prepare_product(const CublasLt& library, const LibraryMatmul& call) {
  return Preparation(library, call).run();
}

std::int64_t elements_of(const LibraryMatrix& matrix, std::int64_t rows, std::int64_t cols,
                         std::int64_t batch) {
  if (matrix.is_transposed) std::swap(rows, cols);
  return (batch - 1) * matrix.batch + (rows - 1) * matrix.line + cols;
}

}  // namespace sinter
