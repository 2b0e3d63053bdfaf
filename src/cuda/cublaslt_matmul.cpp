// Launching: chooses the algorithm by the alignment of the buffers. If the library has none for
// buffers at any element, they are copied to aligned memory, so that no launch is refused.
#include "src/cuda/cublaslt_matmul.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "src/base/check.h"
#include "src/base/elapsed.h"
#include "src/cuda/cublaslt_product.h"

namespace sinter {
namespace {

// a, b and c of one launch.
struct Matrices {
  void* a = nullptr;
  void* b = nullptr;
  void* c = nullptr;

  bool is_aligned() const {
    std::uintptr_t bits = 0;
    for (const void* data : {a, b, c}) bits |= reinterpret_cast<std::uintptr_t>(data);
    return bits % kCublasLtAlignment == 0;
  }
};

class CublasLtMatmul final : public CompiledKernel {
 public:
  CublasLtMatmul(std::shared_ptr<const CublasLt> library, std::shared_ptr<CudaStreams> streams,
                 std::shared_ptr<CudaPool> pool, const LibraryMatmul& call, CublasLtProduct product,
                 double milliseconds)
      : library_(std::move(library)),
        streams_(std::move(streams)),
        pool_(std::move(pool)),
        call_(call),
        product_(std::move(product)) {
    stats_.milliseconds = milliseconds;
    workspace_bytes_ = product_.aligned.workspace_bytes;
    if (product_.unaligned)
      workspace_bytes_ = std::max(workspace_bytes_, product_.unaligned->workspace_bytes);
  }

  // The algorithm depends on the alignment of the buffers.
  bool fits_launch_graph() const override { return false; }
  void launch(std::span<const tile::BufferBinding> buffers, std::span<const std::int64_t>,
              std::int64_t, double) const override {
    const Matrices matrices{buffers[0].data, buffers[1].data, buffers[2].data};
    void* const workspace = buffers.size() > 3 ? buffers[3].data : nullptr;
    const ContextScope scope(library_->context());
    if (matrices.is_aligned())
      multiply(matrices, product_.aligned, workspace);
    else if (product_.unaligned)
      multiply(matrices, *product_.unaligned, workspace);
    else
      multiply_copies(matrices, workspace);
  }

 private:
  void multiply(const Matrices& matrices, const CublasLtAlgorithm& algorithm,
                void* workspace) const {
    const bool is_double = call_.dtype == DType::f64;
    const double doubles[] = {1, 0};
    const float floats[] = {1, 0};
    const void* alpha = is_double ? static_cast<const void*>(&doubles[0]) : &floats[0];
    const void* beta = is_double ? static_cast<const void*>(&doubles[1]) : &floats[1];
    const CublasLtFunctions& lt = library_->functions();
    void* const c = product_.c.get();
    lt.check(
        "cublasLtMatmul",
        lt.matmul(library_->handle(), product_.desc.get(), alpha, matrices.b, product_.b.get(),
                  matrices.a, product_.a.get(), beta, matrices.c, c, matrices.c, c,
                  algorithm.algorithm, workspace, algorithm.workspace_bytes, streams_->current()));
  }

  void multiply_copies(const Matrices& matrices, void* workspace) const {
    const StoragePtr a = allocate(call_.a, call_.dtype, call_.m, call_.k);
    const StoragePtr b = allocate(call_.b, call_.dtype, call_.k, call_.n);
    const StoragePtr c = allocate(call_.c, call_.result, call_.m, call_.n);
    copy(a->data(), matrices.a, a->bytes());
    copy(b->data(), matrices.b, b->bytes());
    multiply({a->data(), b->data(), c->data()}, product_.aligned, workspace);
    copy(matrices.c, c->data(), c->bytes());
  }

  StoragePtr allocate(const LibraryMatrix& matrix, DType dtype, std::int64_t rows,
                      std::int64_t cols) const {
    const std::int64_t elements = elements_of(matrix, rows, cols, call_.batch);
    return pool_->allocate(static_cast<std::size_t>(elements) * size_of(dtype));
  }

  void copy(void* to, const void* from, std::size_t bytes) const {
    library_->context().driver().memcpy_dtod_async(reinterpret_cast<CUdeviceptr>(to),
                                                   reinterpret_cast<CUdeviceptr>(from), bytes,
                                                   streams_->current());
  }

  std::shared_ptr<const CublasLt> library_;
  std::shared_ptr<CudaStreams> streams_;
  std::shared_ptr<CudaPool> pool_;
  LibraryMatmul call_;
  CublasLtProduct product_;
};

}  // namespace

LibraryKernel make_cublaslt_kernel(const std::shared_ptr<const CublasLt>& library,
                                   std::shared_ptr<CudaStreams> streams,
                                   std::shared_ptr<CudaPool> pool, const LibraryMatmul& call) {
  const auto start = std::chrono::steady_clock::now();
  const ContextScope scope(library->context());
  PreparedProduct prepared = prepare_product(*library, call);
  if (!prepared.product) return {nullptr, std::move(prepared.refusal)};
  const double milliseconds = milliseconds_since(start);
  return {std::make_shared<CublasLtMatmul>(library, std::move(streams), std::move(pool), call,
                                           *std::move(prepared.product), milliseconds),
          ""};
}

}  // namespace sinter
