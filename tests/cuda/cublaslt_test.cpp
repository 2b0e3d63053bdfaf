// Products by cuBLASLt: layouts, alignments and refusals on the fake library; values and the
// planner's choice on a GPU.
#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include <cstring>

#include "src/cuda/cublaslt_matmul.h"
#include "src/program/build.h"
#include "src/runtime/compile_kernel.h"
#include "tests/cuda/fake/fake_cublaslt.h"
#include "tests/cuda/fake/fake_device.h"
#include "tests/support/gpu.h"
#include "tests/support/trace_graph.h"
#include "tests/support/values.h"

namespace sinter {
namespace {

constexpr std::int64_t kM = 3, kN = 5, kK = 4, kBatch = 2;

class CublasLtOnAFake : public FakeDevice {
 protected:
  CublasLtOnAFake() : cublaslt_(fresh_fake_cublaslt()) {}
  ~CublasLtOnAFake() override { fresh_fake_cublaslt(); }

  // Element (row, col) of a matrix of a batch.
  static std::size_t index(const LibraryMatrix& matrix, std::int64_t batch, std::int64_t row,
                           std::int64_t col) {
    if (matrix.is_transposed) std::swap(row, col);
    return static_cast<std::size_t>(batch * matrix.batch + row * matrix.line + col);
  }

  // Runs the product on small integers; buffers start after `shift` elements.
  void expect_product(const LibraryMatmul& call, std::size_t shift) {
    const auto device = make();
    const KernelPtr kernel = compile_kernel(*device, KernelBody(call));
    constexpr std::size_t kElements = 200;
    std::vector<StoragePtr> storages;
    std::vector<tile::BufferBinding> buffers;
    for (int i = 0; i < 3; ++i) {
      storages.push_back(device->allocate(kElements * sizeof(float)));
      auto* data = static_cast<float*>(storages.back()->data()) + shift;
      for (std::size_t j = 0; j + shift < kElements; ++j)
        data[j] = static_cast<float>(j % 7) - static_cast<float>(i);
      buffers.push_back({data, static_cast<std::int64_t>(kElements - shift)});
    }
    const StoragePtr workspace = device->allocate(kernel->workspace_bytes());
    buffers.push_back({workspace->data(), 512});
    kernel->launch(buffers, {}, 1, 0);
    const auto* a = static_cast<const float*>(buffers[0].data);
    const auto* b = static_cast<const float*>(buffers[1].data);
    const auto* c = static_cast<const float*>(buffers[2].data);
    for (std::int64_t batch = 0; batch < call.batch; ++batch)
      for (std::int64_t i = 0; i < call.m; ++i)
        for (std::int64_t j = 0; j < call.n; ++j) {
          float sum = 0;
          for (std::int64_t l = 0; l < call.k; ++l)
            sum += a[index(call.a, batch, i, l)] * b[index(call.b, batch, l, j)];
          EXPECT_EQ(c[index(call.c, batch, i, j)], sum) << batch << " " << i << " " << j;
        }
  }

  static LibraryMatmul call(bool transposes_a, bool transposes_b) {
    LibraryMatmul call;
    call.m = kM;
    call.n = kN;
    call.k = kK;
    call.batch = kBatch;
    call.a = {transposes_a, transposes_a ? kM + 1 : kK + 2, 40};
    call.b = {transposes_b, transposes_b ? kK + 1 : kN, 50};
    call.c = {false, kN + 3, 60};
    return call;
  }

  // A product with a result without gaps.
  static LibraryMatmul dense_call() {
    LibraryMatmul dense = call(false, true);
    dense.c = {false, kN, kM * kN};
    return dense;
  }

  // Makes the library refuse products in each way it can, and calls `check` with the reason.
  template <typename F>
  void for_each_refusal(F&& check) {
    cublaslt_.heuristic_status = 15;
    check("[cublasLtMatmulAlgoGetHeuristic] CUBLAS_STATUS_NOT_SUPPORTED (15)");
    fresh_fake_cublaslt().has_algorithms = false;
    check("[cublasLtMatmulAlgoGetHeuristic] no algorithm for buffers aligned to 16 bytes");
    fresh_fake_cublaslt().algorithm_state = 15;
    check("[cublasLtMatmulAlgoGetHeuristic] CUBLAS_STATUS_NOT_SUPPORTED (15)");
  }

  FakeCublasLt& cublaslt_;
};

TEST_F(CublasLtOnAFake, EveryLayout) {
  for (bool transposes_a : {false, true})
    for (bool transposes_b : {false, true}) expect_product(call(transposes_a, transposes_b), 0);
}

TEST_F(CublasLtOnAFake, ABroadcastBatchHasNoStride) {
  LibraryMatmul broadcast = call(false, false);
  broadcast.b.batch = 0;
  expect_product(broadcast, 0);
}

TEST_F(CublasLtOnAFake, BuffersAtAnyElement) { expect_product(call(false, true), 1); }

TEST_F(CublasLtOnAFake, WithoutAnAlgorithmForAnyElementBuffersAreCopied) {
  cublaslt_.least_alignment = 16;
  expect_product(dense_call(), 0);
  expect_product(dense_call(), 1);
  EXPECT_EQ(cublaslt_.products, 2);
  // Copying the result as a block would write what lies between its rows.
  const LibraryKernel gaps = make()->library_kernel(call(false, true));
  EXPECT_FALSE(gaps.kernel);
  EXPECT_EQ(gaps.refusal,
            "[cublasLtMatmulAlgoGetHeuristic] no algorithm for buffers aligned to 4 bytes");
}

TEST_F(CublasLtOnAFake, PartialSumsAreAddedInTheComputeType) {
  EXPECT_TRUE(make()->library_kernel(call(false, false)).kernel);
  EXPECT_EQ(cublaslt_.reduction_schemes, 2)
      << "of NONE 0, INPLACE 1, COMPUTE_TYPE 2, OUTPUT_TYPE 4";
}

TEST_F(CublasLtOnAFake, ARefusalIsAValueWithAReason) {
  const auto device = make();
  for_each_refusal([&](const std::string& reason) {
    const LibraryKernel refused = device->library_kernel(call(false, false));
    EXPECT_FALSE(refused.kernel);
    EXPECT_EQ(refused.refusal, reason);
    EXPECT_THROW(compile_kernel(*device, KernelBody(call(false, false))), DeviceError);
  });
  fresh_fake_cublaslt();
  EXPECT_TRUE(compile_kernel(*device, KernelBody(call(false, false)))) << "refusals are not kept";
}

TEST_F(CublasLtOnAFake, WithoutTheLibraryThereIsNone) {
  CudaDeviceOptions without = options();
  without.cublaslt_paths = {"/no/such/library.so"};
  CudaDevice device(without);
  EXPECT_EQ(device.matmul_library(), MatmulLibrary::none);
  EXPECT_EQ(device.library_kernel(call(false, false)).refusal,
            "there is no cuBLASLt: the library was not found");
  EXPECT_EQ(make()->matmul_library(), MatmulLibrary::cublaslt);
}

TEST_F(CublasLtOnAFake, ALibraryThatDoesNotStartIsNone) {
  cublaslt_.create_status = 3;
  const auto device = make();
  EXPECT_EQ(device->matmul_library(), MatmulLibrary::none);
  const std::string reason = device->library_kernel(call(false, false)).refusal;
  EXPECT_TRUE(reason.ends_with("[cublasLtCreate] CUBLAS_STATUS_ALLOC_FAILED (3)")) << reason;
}

// A product of square matrices, then perhaps an addition.
std::shared_ptr<const Program> build_product(const std::shared_ptr<Device>& device,
                                             std::int64_t size, bool adds = false) {
  const Graph graph = testing_support::trace_graph(
      {{{size, size}}, {{size, size}}}, [&](const std::vector<Tensor>& in) {
        const Tensor product = matmul(in[0], in[1]);
        return std::vector<Tensor>{adds ? product + 1.0 : product};
      });
  const std::int64_t extents[] = {size * size, size * size};
  return build_program(graph, extents, {}, device);
}

// The plan's description of that product.
std::string product_of(const std::shared_ptr<Device>& device, std::int64_t size,
                       bool adds = false) {
  return plan_info(*build_product(device, size, adds)).kernels.at(0).product;
}

TEST_F(CublasLtOnAFake, ThePlanSaysWhatComputesAProduct) {
  const std::string by_library = "cuBLASLt: it gains more than fusing with what follows would";
  const auto device = make();
  EXPECT_EQ(product_of(device, 256), by_library);
  EXPECT_EQ(product_of(device, 256, true), by_library) << "the addition has its own kernel";
  EXPECT_EQ(product_of(device, 64), "a generated kernel: the product is small");
}

TEST_F(CublasLtOnAFake, ThePlanSaysThatThereIsNoLibrary) {
  CudaDeviceOptions without = options();
  without.cublaslt_paths = {"/no/such/library.so"};
  const std::string generated = "a generated kernel: the device has no cuBLASLt";
  EXPECT_EQ(product_of(std::make_shared<CudaDevice>(without), 256), generated);
  cublaslt_.create_status = 3;
  EXPECT_EQ(product_of(make(), 256), generated);
}

TEST_F(CublasLtOnAFake, ARefusedProductIsGeneratedAndFused) {
  const auto device = make();
  for_each_refusal([&](const std::string&) {
    const auto program = build_product(device, 256, true);
    const PlanInfo plan = plan_info(*program);
    ASSERT_EQ(plan.kernels.size(), 1u);
    EXPECT_EQ(plan.kernels[0].product,
              "a generated kernel: cuBLASLt refused a product of this program");
    EXPECT_NE(explain_text(*program, "").find("every edge is fused"), std::string::npos);
    EXPECT_TRUE(program->executable.launches[0].kernel->fits_launch_graph());
  });
  fresh_fake_cublaslt();
  EXPECT_EQ(build_product(device, 256, true)->kernels.end_id(), 2) << "the next one is asked again";
}

// The product (363608 bytes) comes first in the arena and does not end at a multiple of 256.
TEST_F(CublasLtOnAFake, TheWorkspaceIsAlignedInTheArena) {
  cublaslt_.aligned_workspace = 512;
  const auto device = make();
  const Graph graph =
      testing_support::trace_graph({{{301, 256}}, {{256, 302}}}, [](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{matmul(in[0], in[1]) + 1.0};
      });
  const std::int64_t extents[] = {301 * 256, 256 * 302};
  const auto program = build_program(graph, extents, {}, device);
  std::vector<StoragePtr> storages;
  std::vector<InputBinding> inputs;
  for (std::int64_t extent : extents) {
    storages.push_back(device->allocate(static_cast<std::size_t>(extent) * sizeof(float)));
    std::memset(storages.back()->data(), 0, storages.back()->bytes());
    inputs.push_back({storages.back()->data()});
  }
  EXPECT_NO_THROW(run(program->executable, inputs));
  EXPECT_EQ(cublaslt_.products, 1);
}

class GpuCublasLt : public ::testing::Test {
 protected:
  void SetUp() override {
    SINTER_NEEDS_GPU();
    if (open_device("cuda")->matmul_library() == MatmulLibrary::none)
      GTEST_SKIP() << "there is no cuBLASLt";
  }

  // Large enough for the library, checked against the product by a generated kernel in f64.
  static void expect_product(const Tensor& a, const Tensor& b) {
    const auto by_library = compile([](const Tensor& x, const Tensor& y) { return matmul(x, y); });
    const Tensor got = by_library(a.to("cuda"), b.to("cuda"));
    EXPECT_NE(by_library.explain({a.to("cuda"), b.to("cuda")}).find("computed by cuBLASLt"),
              std::string::npos);
    const auto in_f64 = compile([](const Tensor& x, const Tensor& y) {
      return matmul(cast(x, DType::f64), cast(y, DType::f64)) + 0.0;
    });
    const Tensor want = in_f64(a, b);
    const auto k = static_cast<testing::Real>(a.size(-1));
    const DType summing = a.dtype() == DType::f64 ? DType::f64 : DType::f32;
    EXPECT_TRUE(testing::matches(got.to("cpu"), want.shape(), a.dtype(), testing::values_of(want),
                                 {.ulps = 0.51, .absolute = k * k * testing::epsilon_of(summing)}));
  }

  static Tensor small(DType dtype, const Shape& shape, unsigned seed) {
    return testing::random_tensor(dtype, shape, seed, -1, 1);
  }
};

TEST_F(GpuCublasLt, EveryDType) {
  for (DType dtype : testing::kFloatDTypes)
    expect_product(small(dtype, {300, 301}, 1), small(dtype, {301, 302}, 2));
}

TEST_F(GpuCublasLt, TransposedAndBatched) {
  const Tensor a = small(DType::bf16, {5, 200, 130}, 3);
  const Tensor b = small(DType::bf16, {5, 150, 130}, 4);
  expect_product(a, transpose(b, 1, 2));
  expect_product(transpose(a, 1, 2), small(DType::bf16, {200, 140}, 5));
}

TEST_F(GpuCublasLt, OperandsAtOddElements) {
  const Tensor a = slice(small(DType::f16, {301, 301}, 6), 0, 1, 301);
  const Tensor b = slice(small(DType::f16, {302, 300}, 7), 0, 1, 302);
  const auto f = compile([](const Tensor& x, const Tensor& y) {
    return matmul(slice(x, 0, 1, 301), slice(y, 0, 1, 302));
  });
  const Tensor got =
      f(small(DType::f16, {301, 301}, 6).to("cuda"), small(DType::f16, {302, 300}, 7).to("cuda"));
  const Tensor want = matmul(cast(a, DType::f64), cast(b, DType::f64));
  EXPECT_TRUE(testing::matches(got.to("cpu"), want.shape(), DType::f16, testing::values_of(want),
                               {.ulps = 0.51, .absolute = 1e-3}));
}

TEST_F(GpuCublasLt, BothBodiesGiveTheProduct) {
  const Tensor a = small(DType::f32, {256, 256}, 8).to("cuda");
  const Tensor b = small(DType::f32, {256, 256}, 9).to("cuda");
  const auto by_library = compile([](const Tensor& x, const Tensor& y) { return matmul(x, y); });
  // Two products with too few multiplications for the library.
  const auto generated = compile([](const Tensor& x, const Tensor& y) {
    return concat({matmul(slice(x, 0, 0, 128), y), matmul(slice(x, 0, 128, 256), y)}, 0);
  });
  EXPECT_EQ(generated.explain({a, b}).find("computed by cuBLASLt"), std::string::npos);
  const auto left = by_library(a, b).to("cpu").to_vector<float>();
  const auto right = generated(a, b).to("cpu").to_vector<float>();
  for (std::size_t i = 0; i < left.size(); ++i) ASSERT_NEAR(left[i], right[i], 1e-4) << i;
}

}  // namespace
}  // namespace sinter
