// matmul() against products in f64, on every device: sizes that fill no tile, every dtype, batches
// and their broadcasts, transposed and sliced operands, what is fused before and after.
#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include <cmath>
#include <random>

#include "tests/support/errors.h"
#include "tests/support/gpu.h"
#include "tests/support/values.h"

namespace sinter {
namespace {

using testing::broadcast_values;
using testing::epsilon_of;
using testing::random_tensor;
using testing::Real;
using testing::round_to;
using testing::values_of;

unsigned fresh_seed() {
  static unsigned seed = std::random_device{}();
  return ++seed;
}

Tensor small(DType dtype, const Shape& shape) {
  return random_tensor(dtype, shape, fresh_seed(), -1, 1);
}

// Values of batches of products: (batch, m, k) by (batch, k, n).
struct Products {
  std::vector<Real> values;
  Real bound = 0;  // of an element's error in the dtype that sums
};

struct Sizes {
  std::int64_t m, k, n;
};

Products multiplied(const std::vector<Real>& a, const std::vector<Real>& b, const Sizes& sizes,
                    DType dtype) {
  const auto [m, k, n] = sizes;
  const auto batches = static_cast<std::int64_t>(a.size()) / (m * k);
  const auto at = [](const std::vector<Real>& values, std::int64_t i) {
    return values[static_cast<std::size_t>(i)];
  };
  Products products;
  Real largest = 0;
  for (std::int64_t batch = 0; batch < batches; ++batch)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        Real sum = 0;
        Real absolute = 0;
        for (std::int64_t l = 0; l < k; ++l) {
          const Real term = at(a, (batch * m + i) * k + l) * at(b, (batch * k + l) * n + j);
          sum += term;
          absolute += std::abs(term);
        }
        products.values.push_back(sum);
        largest = std::max(largest, absolute);
      }
  const Real summing = epsilon_of(dtype == DType::f64 ? DType::f64 : DType::f32);
  products.bound = static_cast<Real>(k + 1) * summing * largest;
  return products;
}

class Matmul : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { SINTER_NEEDS_DEVICE(GetParam()); }

  Tensor there(const Tensor& tensor) const { return tensor.to(GetParam()); }

  void expect_product(const Tensor& a, const Tensor& b) const {
    const auto f = compile([](const Tensor& x, const Tensor& y) { return matmul(x, y); });
    expect_result(f(there(a), there(b)), a, b);
  }

  // `got` is a b, for operands of rank 2 or more.
  static void expect_result(const Tensor& got, const Tensor& a, const Tensor& b) {
    const Sizes sizes{a.size(-2), a.size(-1), b.size(-1)};
    Shape batch;
    for (int axis = 0; axis + 2 < got.rank(); ++axis) batch.push_back(got.size(axis));
    const auto with = [&](std::int64_t rows, std::int64_t cols) {
      Shape shape = batch;
      shape.push_back(rows);
      shape.push_back(cols);
      return shape;
    };
    const Products want = multiplied(broadcast_values(a, with(sizes.m, sizes.k)),
                                     broadcast_values(b, with(sizes.k, sizes.n)), sizes, a.dtype());
    EXPECT_TRUE(testing::matches(got.to("cpu"), with(sizes.m, sizes.n), a.dtype(), want.values,
                                 {.ulps = 0.51, .absolute = want.bound}));
  }
};

TEST_P(Matmul, SizesThatFillNoTile) {
  const Sizes all[] = {{1, 1, 1},  {7, 5, 3},    {64, 64, 64}, {33, 65, 129}, {5, 300, 2},
                       {2, 9, 70}, {130, 31, 9}, {1, 40, 50},  {50, 40, 1},   {3, 1, 4}};
  for (const Sizes& size : all) {
    SCOPED_TRACE(size.m * 1000000 + size.k * 1000 + size.n);
    expect_product(small(DType::f32, {size.m, size.k}), small(DType::f32, {size.k, size.n}));
  }
}

TEST_P(Matmul, EveryFloatingDType) {
  for (DType dtype : testing::kFloatDTypes)
    expect_product(small(dtype, {20, 37}), small(dtype, {37, 24}));
}

TEST_P(Matmul, BatchesAndTheirBroadcasts) {
  expect_product(small(DType::f32, {3, 5, 7}), small(DType::f32, {3, 7, 4}));
  expect_product(small(DType::f32, {3, 5, 7}), small(DType::f32, {7, 4}));
  expect_product(small(DType::f32, {5, 7}), small(DType::f32, {3, 7, 4}));
  expect_product(small(DType::f32, {2, 1, 5, 7}), small(DType::f32, {3, 7, 4}));
  expect_product(small(DType::f32, {4, 1, 5, 7}), small(DType::f32, {1, 3, 7, 4}));
}

TEST_P(Matmul, AnyStrides) {
  const Tensor a = small(DType::f32, {12, 9, 4});
  const Tensor b = small(DType::f32, {8, 9});
  const auto f = compile([](const Tensor& x, const Tensor& y) {
    const Tensor sliced = slice(x, 0, 1, 11, 3);                    // (4, 9, 4)
    return matmul(permute(sliced, {2, 0, 1}), transpose(y, 0, 1));  // (4, 4, 9) by (9, 8)
  });
  const Tensor sliced = permute(slice(a, 0, 1, 11, 3), {2, 0, 1});
  expect_result(f(there(a), there(b)), sliced, transpose(b, 0, 1));
  // Views as inputs.
  const auto g = compile([](const Tensor& x, const Tensor& y) { return matmul(x, y); });
  expect_result(g(permute(slice(there(a), 0, 1, 11, 3), {2, 0, 1}), transpose(there(b), 0, 1)),
                sliced, transpose(b, 0, 1));
}

TEST_P(Matmul, VectorsAreARowOrAColumn) {
  const Tensor matrix = small(DType::f32, {6, 11});
  const Tensor x = small(DType::f32, {11});
  const Tensor y = small(DType::f32, {6});
  const auto f = compile([](const Tensor& m, const Tensor& right, const Tensor& left) {
    return std::vector{matmul(m, right), matmul(left, m), matmul(right, right)};
  });
  const std::vector<Tensor> got = f(there(matrix), there(x), there(y));
  EXPECT_EQ(got[0].shape(), Shape({6}));
  EXPECT_EQ(got[1].shape(), Shape({11}));
  EXPECT_EQ(got[2].shape(), Shape({}));
  expect_result(reshape(got[0], {6, 1}), matrix, reshape(x, {11, 1}));
  expect_result(reshape(got[1], {1, 11}), reshape(y, {1, 6}), matrix);
  expect_result(reshape(got[2], {1, 1}), reshape(x, {1, 11}), reshape(x, {11, 1}));
}

TEST_P(Matmul, EpiloguesFuseIntoTheKernel) {
  const Tensor a = small(DType::f32, {30, 17});
  const Tensor b = small(DType::f32, {17, 20});
  const Tensor bias = small(DType::f32, {20});
  const auto f = compile([](const Tensor& x, const Tensor& y, const Tensor& z) {
    return maximum(matmul(x, y) + z, 0.0);
  });
  const Tensor got = f(there(a), there(b), there(bias));
  Products want = multiplied(values_of(a), values_of(b), {30, 17, 20}, DType::f32);
  const std::vector<Real> biases = values_of(bias);
  for (std::size_t i = 0; i < want.values.size(); ++i)
    want.values[i] = std::max<Real>(want.values[i] + biases[i % 20], 0);
  EXPECT_TRUE(testing::matches(got.to("cpu"), {30, 20}, DType::f32, want.values,
                               {.ulps = 1, .absolute = want.bound}));
  EXPECT_EQ(f.info({there(a), there(b), there(bias)}).kernels, 1);
}

// What an operand is computed by takes a kernel and a tensor of the operand's size, not of the size
// of all products.
TEST_P(Matmul, ProducersAreComputedOnce) {
  const Tensor a = small(DType::f32, {30, 17});
  const Tensor b = small(DType::f32, {17, 20});
  Products want = multiplied(values_of(a), values_of(b), {30, 17, 20}, DType::f32);
  for (Real& value : want.values) value *= 2;
  want.bound *= 2;
  const std::function<Tensor(const Tensor&)> producers[] = {
      [](const Tensor& x) { return x * 2.0; },
      [](const Tensor& x) { return cast(cast(x, DType::f64) * 2.0, DType::f32); },
      [](const Tensor& x) { return slice(pad(x * 2.0, 1, 3, 2), 1, 3, 20); }};
  for (const auto& producer : producers)
    for (const bool fuse : {true, false}) {
      const auto f = compile(
          [&](const Tensor& x, const Tensor& y) { return matmul(producer(x), y); }, {.fuse = fuse});
      EXPECT_TRUE(testing::matches(f(there(a), there(b)).to("cpu"), {30, 20}, DType::f32,
                                   want.values, {.ulps = 1, .absolute = want.bound}));
      EXPECT_LE(f.info({there(a), there(b)}).buffer_bytes, 30 * 17 * 8 + 30 * 17 * 8 + 512)
          << f.explain();
      if (fuse) {
        EXPECT_EQ(f.info({there(a), there(b)}).kernels, 2) << f.explain();
      }
    }
}

TEST_P(Matmul, PaddedOperandsAreCopiedOnce) {
  const Tensor a = small(DType::f32, {30, 13});
  const Tensor b = small(DType::f32, {17, 20});
  const auto f =
      compile([](const Tensor& x, const Tensor& y) { return matmul(pad(x, 1, 4, 0), y); });
  expect_result(f(there(a), there(b)), pad(a, 1, 4, 0), b);
  EXPECT_EQ(f.info({there(a), there(b)}).kernels, 2) << f.explain();
  EXPECT_LE(f.info({there(a), there(b)}).buffer_bytes, 30 * 17 * 4 + 256);
}

TEST(MatmulErrors, TooManyProducts) {
  const auto f = compile([](const Tensor& x) {
    const Tensor wide = expand(x, {1 << 22, 1 << 22});
    return slice(slice(matmul(wide, wide), 0, 0, 1), 1, 0, 1);
  });
  EXPECT_EQ(testing::error_of([&] {
              f(ones({1, 1}));
            }),
            "[matmul] (4194304, 4194304, 4194304) has too many elements; while tracing an "
            "unnamed function of 1 tensor with input f32(1, 1)");
}

TEST_P(Matmul, ThePlanSaysWhatComputesTheProduct) {
  const Tensor a = there(small(DType::f32, {30, 17}));
  const Tensor b = there(small(DType::f32, {17, 20}));
  const auto f = compile([](const Tensor& x, const Tensor& y) { return matmul(x, y); });
  const std::string product = f.plan({a, b}).kernels.at(0).product;
  EXPECT_EQ(product, std::string(GetParam()) == "cpu"
                         ? "a generated kernel: the device has no cuBLASLt"
                         : "a generated kernel: the product is small");
  EXPECT_NE(f.explain().find("  product computed by " + product + "\n"), std::string::npos);
  // A product with a vector reads its matrix once: it is a sum as any other.
  const auto g = compile([](const Tensor& x, const Tensor& y) { return matmul(x, sum(y, 1)); });
  g(a, b);
  EXPECT_EQ(g.explain().find("product computed by"), std::string::npos);
}

TEST_P(Matmul, LongSumsOfFewResults) {
  expect_product(small(DType::f32, {3, 20000}), small(DType::f32, {20000, 4}));
  expect_product(small(DType::f64, {2, 3001}), small(DType::f64, {3001, 33}));
}

TEST_P(Matmul, EmptyOperands) {
  const auto f = compile([](const Tensor& x, const Tensor& y) { return matmul(x, y); });
  EXPECT_EQ(f(there(small(DType::f32, {0, 4})), there(small(DType::f32, {4, 3}))).shape(),
            Shape({0, 3}));
  const Tensor zeros = f(there(small(DType::f32, {2, 0})), there(small(DType::f32, {0, 3})));
  EXPECT_EQ(values_of(zeros.to("cpu")), std::vector<Real>(6, 0));
}

TEST_P(Matmul, NaNAndInfinitySpreadAlongTheirRow) {
  const Tensor a = from_vector<float>({1, NAN, 2, INFINITY, 1, 1}, {3, 2});
  const Tensor b = from_vector<float>({1, 2, 0, 1}, {2, 2});
  const auto f = compile([](const Tensor& x, const Tensor& y) { return matmul(x, y); });
  const std::vector<float> got = f(there(a), there(b)).to("cpu").to_vector<float>();
  EXPECT_TRUE(std::isnan(got[0]) && std::isnan(got[1]));
  EXPECT_TRUE(std::isnan(got[2]) && std::isinf(got[3]));
  EXPECT_EQ(got[4], 1);
  EXPECT_EQ(got[5], 3);
}

INSTANTIATE_TEST_SUITE_P(Cpu, Matmul, ::testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Simt, Matmul, ::testing::Values("simt"));
INSTANTIATE_TEST_SUITE_P(Gpu, Matmul, ::testing::Values("cuda"));

TEST(MatmulErrors, SayWhatDoesNotFit) {
  const Tensor a = small(DType::f32, {2, 3});
  EXPECT_USER_ERROR(matmul(a, small(DType::f32, {4, 5})),
                    "[matmul] inner dimensions differ: a is (2, 3), b is (4, 5)");
  EXPECT_USER_ERROR(matmul(a, small(DType::f32, {})),
                    "[matmul] a is (2, 3), b is (); both need at least one axis: multiply by a "
                    "scalar with *");
  EXPECT_USER_ERROR(matmul(small(DType::f32, {2, 2, 3}), small(DType::f32, {3, 3, 5})),
                    "[matmul] batch dimensions do not broadcast: a is (2, 2, 3), b is (3, 3, 5)");
  EXPECT_USER_ERROR(
      matmul(small(DType::i32, {2, 3}), small(DType::i32, {3, 2})),
      "[matmul] takes floating-point tensors, got i32 and i32; convert them with cast()");
}

TEST(MatmulDTypes, ArePromoted) {
  EXPECT_EQ(matmul(small(DType::f16, {2, 3}), small(DType::f32, {3, 2})).dtype(), DType::f32);
  EXPECT_EQ(matmul(small(DType::bf16, {2, 3}), small(DType::bf16, {3, 2})).dtype(), DType::bf16);
}

}  // namespace
}  // namespace sinter
