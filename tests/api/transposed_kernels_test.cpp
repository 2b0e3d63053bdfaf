// Values of kernels whose operands run along different axes, at sizes and offsets that are no
// multiples of a vector, on every device, against the same program operation by operation on the
// CPU.
#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/support/gpu.h"
#include "tests/support/values.h"

namespace sinter {
namespace {

using testing::matches;
using testing::random_tensor;
using testing::values_of;

class TransposedKernels : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { SINTER_NEEDS_DEVICE(GetParam()); }

  // `x` and `y` are sliced and permuted on the device.
  void expect_same(const std::function<Tensor(const Tensor&, const Tensor&)>& f, const Tensor& x,
                   const Tensor& y) const {
    const Tensor want = f(x, y);
    const Tensor got = compile(f)(x.to(GetParam()), y.to(GetParam()));
    EXPECT_TRUE(matches(got.to("cpu"), want.shape(), want.dtype(), values_of(want)))
        << to_string(x.shape()) << " " << name_of(x.dtype());
  }
};

std::string name_of_device(const ::testing::TestParamInfo<const char*>& info) {
  const std::string device = info.param;
  return device == "cpu" ? "Cpu" : device == "simt" ? "Simt" : "Gpu";
}

INSTANTIATE_TEST_SUITE_P(Devices, TransposedKernels, ::testing::Values("cpu", "simt", "cuda"),
                         name_of_device);

// Exact in every type, so that no order of rounding matters.
Tensor whole_numbers(DType dtype, const Shape& shape, unsigned seed) {
  return cast(random_tensor(DType::i32, shape, seed, -60, 60), dtype);
}

const DType kTypes[] = {DType::f32, DType::bf16, DType::i64};

TEST_P(TransposedKernels, SizesThatAreNoMultiplesOfVectors) {
  for (DType dtype : kTypes)
    for (const Shape& shape : std::vector<Shape>{{33, 79},
                                                 {130, 65},
                                                 {5, 331},
                                                 {331, 5},
                                                 {71, 72},
                                                 {72, 71},
                                                 {4, 64},
                                                 {9, 1027},
                                                 {1030, 4}}) {
      expect_same([](const Tensor& x, const Tensor& y) { return x + transpose(y, 0, 1); },
                  whole_numbers(dtype, shape, 1), whole_numbers(dtype, {shape[1], shape[0]}, 2));
    }
}

TEST_P(TransposedKernels, ParametersOfDifferentTypes) {
  const Shape shape{37, 83};
  expect_same([](const Tensor& x,
                 const Tensor& y) { return where(transpose(x > 0, 0, 1), transpose(x, 0, 1), y); },
              whole_numbers(DType::f16, {shape[1], shape[0]}, 3),
              whole_numbers(DType::f32, shape, 4));
}

TEST_P(TransposedKernels, PartsOfLargerTensors) {
  for (DType dtype : kTypes)
    for (std::int64_t first : {1, 2, 3})
      expect_same(
          [=](const Tensor& x, const Tensor& y) {
            return slice(x, 1, first, x.size(1)) + slice(transpose(y, 0, 1), 1, first, y.size(0));
          },
          whole_numbers(dtype, {43, 90}, 5), whole_numbers(dtype, {90, 43}, 6));
}

TEST_P(TransposedKernels, PermutedBatches) {
  for (DType dtype : {DType::f32, DType::bf16}) {
    const Tensor x = whole_numbers(dtype, {3, 37, 67}, 7);
    expect_same([](const Tensor& a, const Tensor& b) { return a - transpose(b, 1, 2); }, x,
                whole_numbers(dtype, {3, 67, 37}, 8));
    expect_same(
        [](const Tensor& a, const Tensor& b) {
          return a - permute(b, {2, 0, 1});
        },
        x, whole_numbers(dtype, {37, 67, 3}, 9));
    expect_same(
        [](const Tensor& a, const Tensor& b) {
          return a - permute(b, {1, 2, 0});
        },
        x, whole_numbers(dtype, {67, 3, 37}, 10));
    expect_same(
        [](const Tensor& a, const Tensor& b) {
          return a - permute(b, {2, 1, 0});
        },
        x, whole_numbers(dtype, {67, 37, 3}, 11));
  }
}

TEST_P(TransposedKernels, PaddedOperands) {
  for (DType dtype : {DType::f32, DType::f16})
    for (int axis : {0, 1})
      expect_same([=](const Tensor& x,
                      const Tensor& y) { return x + transpose(pad(y, axis, 2, 3, 7.0), 0, 1); },
                  whole_numbers(dtype, {50, 83}, 12),
                  whole_numbers(dtype, axis == 0 ? Shape{78, 50} : Shape{83, 45}, 13));
}

}  // namespace
}  // namespace sinter
