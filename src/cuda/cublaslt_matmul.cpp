// cuBLASLt is column-major: it sees our row-major matrices as transposed. So it computes
// c' (n x m) = b' (n x k) a' (k x m), with b as its first operand.
#include "src/cuda/cublaslt_matmul.h"

#include <algorithm>
#include <utility>

#include "src/base/check.h"
#include "src/base/elapsed.h"

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
constexpr int kPreferenceAlignments[] = {5, 6, 7, 8};  // of a, b, c, d

constexpr std::size_t kMostWorkspace = std::size_t{32} << 20;
constexpr std::uint32_t kAligned = 16;  // bytes

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

// An object of the library.
class Object {
 public:
  using Destroy = CublasStatus (*)(void*);
  Object(void* object, Destroy destroy) : object_(object), destroy_(destroy) {}
  ~Object() { destroy_(object_); }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  void* get() const { return object_; }

 private:
  void* object_;
  Destroy destroy_;
};
using ObjectPtr = std::unique_ptr<const Object>;

class CublasLtMatmul final : public CompiledKernel {
 public:
  CublasLtMatmul(std::shared_ptr<const CublasLt> library, std::shared_ptr<CudaStreams> streams,
                 const LibraryMatmul& call)
      : library_(std::move(library)), streams_(std::move(streams)), call_(call) {
    const auto start = std::chrono::steady_clock::now();
    const ContextScope scope(library_->context());
    make_objects();
    any_ = algorithm_for(static_cast<std::uint32_t>(size_of(call_.dtype)));
    aligned_ = algorithm_for(kAligned);
    workspace_bytes_ = std::max(aligned_.workspace_bytes, any_.workspace_bytes);
    stats_.milliseconds = milliseconds_since(start);
  }

  // The algorithm depends on the alignment of the buffers.
  bool fits_launch_graph() const override { return false; }
  void launch(std::span<const tile::BufferBinding> buffers, std::span<const std::int64_t>,
              std::int64_t, double) const override {
    const void* a = buffers[0].data;
    const void* b = buffers[1].data;
    void* c = buffers[2].data;
    void* workspace = buffers.size() > 3 ? buffers[3].data : nullptr;
    std::uintptr_t bits = 0;
    for (const void* data : {a, b, static_cast<const void*>(c)})
      bits |= reinterpret_cast<std::uintptr_t>(data);
    const CublasLtAlgorithm& algorithm = bits % kAligned == 0 ? aligned_ : any_;
    const bool is_double = call_.dtype == DType::f64;
    const double doubles[] = {1, 0};
    const float floats[] = {1, 0};
    const void* alpha = is_double ? static_cast<const void*>(&doubles[0]) : &floats[0];
    const void* beta = is_double ? static_cast<const void*>(&doubles[1]) : &floats[1];
    const ContextScope scope(library_->context());
    const CublasLtFunctions& lt = library_->functions();
    lt.check("cublasLtMatmul",
             lt.matmul(library_->handle(), desc_->get(), alpha, b, b_->get(), a, a_->get(), beta, c,
                       c_->get(), c, c_->get(), algorithm.algorithm, workspace,
                       algorithm.workspace_bytes, streams_->current()));
  }

 private:
  void make_objects() {
    const CublasLtFunctions& lt = library_->functions();
    const bool is_double = call_.dtype == DType::f64;
    void* desc = nullptr;
    lt.check("cublasLtMatmulDescCreate",
             lt.desc_create(&desc, is_double ? kCompute64 : kCompute32,
                            data_type(is_double ? DType::f64 : DType::f32)));
    desc_ = std::make_unique<Object>(desc, lt.desc_destroy);
    set_transposed(kDescTransposeA, call_.b.is_transposed);
    set_transposed(kDescTransposeB, call_.a.is_transposed);
    b_ = layout_of(call_.b, call_.dtype, call_.k, call_.n);
    a_ = layout_of(call_.a, call_.dtype, call_.m, call_.k);
    c_ = layout_of(call_.c, call_.result, call_.m, call_.n);
  }

  void set_transposed(int attribute, bool is_transposed) {
    const std::int32_t value = is_transposed ? 1 : 0;
    const CublasLtFunctions& lt = library_->functions();
    lt.check("cublasLtMatmulDescSetAttribute",
             lt.desc_set(desc_->get(), attribute, &value, sizeof value));
  }

  // Layout of our stored `rows` x `cols` matrix: its rows are the library's columns.
  ObjectPtr layout_of(const LibraryMatrix& matrix, DType dtype, std::int64_t rows,
                      std::int64_t cols) const {
    const CublasLtFunctions& lt = library_->functions();
    if (matrix.is_transposed) std::swap(rows, cols);
    void* layout = nullptr;
    lt.check("cublasLtMatrixLayoutCreate",
             lt.layout_create(&layout, data_type(dtype), static_cast<std::uint64_t>(cols),
                              static_cast<std::uint64_t>(rows), matrix.line));
    auto object = std::make_unique<Object>(layout, lt.layout_destroy);
    const auto count = static_cast<std::int32_t>(call_.batch);
    lt.check("cublasLtMatrixLayoutSetAttribute",
             lt.layout_set(layout, kLayoutBatchCount, &count, sizeof count));
    lt.check("cublasLtMatrixLayoutSetAttribute",
             lt.layout_set(layout, kLayoutBatchStride, &matrix.batch, sizeof matrix.batch));
    return object;
  }

  // For operands that start at multiples of `alignment` bytes.
  CublasLtAlgorithm algorithm_for(std::uint32_t alignment) const {
    const CublasLtFunctions& lt = library_->functions();
    void* made = nullptr;
    lt.check("cublasLtMatmulPreferenceCreate", lt.preference_create(&made));
    const Object preference(made, lt.preference_destroy);
    const auto set = [&](int attribute, const auto& value) {
      lt.check("cublasLtMatmulPreferenceSetAttribute",
               lt.preference_set(made, attribute, &value, sizeof value));
    };
    set(kPreferenceWorkspace, kMostWorkspace);
    for (int attribute : kPreferenceAlignments) set(attribute, alignment);
    CublasLtAlgorithm algorithm;
    int found = 0;
    lt.check("cublasLtMatmulAlgoGetHeuristic",
             lt.heuristic(library_->handle(), desc_->get(), b_->get(), a_->get(), c_->get(),
                          c_->get(), made, 1, &algorithm, &found));
    if (found == 0)
      throw DeviceError(fmt::format("cuBLASLt has no algorithm for {}", to_string(call_)),
                        "cublasLtMatmulAlgoGetHeuristic", 0);
    return algorithm;
  }

  std::shared_ptr<const CublasLt> library_;
  std::shared_ptr<CudaStreams> streams_;
  LibraryMatmul call_;
  ObjectPtr desc_;
  ObjectPtr a_;
  ObjectPtr b_;
  ObjectPtr c_;
  CublasLtAlgorithm aligned_;
  CublasLtAlgorithm any_;
};

}  // namespace

KernelPtr make_cublaslt_kernel(std::shared_ptr<const CublasLt> library,
                               std::shared_ptr<CudaStreams> streams, const LibraryMatmul& call) {
  return std::make_shared<CublasLtMatmul>(std::move(library), std::move(streams), call);
}

}  // namespace sinter
