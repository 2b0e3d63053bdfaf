// Values of kernels that read concats, rolls, flips and pads in place, on every device, against the
// same program operation by operation on the CPU.
#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/gpu.h"
#include "tests/support/values.h"

namespace sinter {
namespace {

using testing::matches;
using testing::random_tensor;
using testing::values_of;

class ConcatKernels : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { SINTER_NEEDS_DEVICE(GetParam()); }
};

std::string name_of_device(const ::testing::TestParamInfo<const char*>& info) {
  const std::string device = info.param;
  return device == "cpu" ? "Cpu" : device == "simt" ? "Simt" : "Gpu";
}

INSTANTIATE_TEST_SUITE_P(Devices, ConcatKernels, ::testing::Values("cpu", "simt", "cuda"),
                         name_of_device);

Tensor rolled(const Tensor& x, std::int64_t by, int axis) {
  const std::int64_t size = x.size(axis);
  return concat({slice(x, axis, size - by, size), slice(x, axis, 0, size - by)}, axis);
}

Tensor rotated(const Tensor& x) {
  const std::vector<Tensor> halves = chunk(x, 2, x.rank() - 1);
  return x * 0.5 + concat({-halves[1], halves[0]}, x.rank() - 1) * 0.25;
}

struct Program {
  const char* name;
  std::function<Tensor(const Tensor&)> run;
  int kernels = 1;
};

std::vector<Program> programs() {
  return {
      {"rotated", rotated},
      {"rotated rows", [](const Tensor& x) { return rotated(transpose(x, -2, -1)); }},
      {"rolled", [](const Tensor& x) { return x * rolled(x, 3, x.rank() - 1) + 1.0; }},
      {"rolled rows", [](const Tensor& x) { return x - rolled(x * 2.0, 1, 0); }},
      {"flipped", [](const Tensor& x) { return x * flip(x + 1.0, {-1}); }},
      {"shifted",
       [](const Tensor& x) {
         const int last = x.rank() - 1;
         return slice(pad(abs(x), last, 1, 0, -2.0), last, 0, x.size(last)) + x;
       }},
      {"summed",
       [](const Tensor& x) {
         return sum(concat({x, x * 2.0, -x}, -1), {-1});
       }},
      {"softmax",
       [](const Tensor& x) {
         return softmax(concat({x, slice(x, -1, 0, 4)}, -1), -1);
       }},
      {"appended",
       [](const Tensor& x) {
         return concat({x, slice(x, 0, 0, 1)}, 0);
       }},
      {"halves",
       [](const Tensor& x) {
         const std::vector<Tensor> halves = chunk(x, 2, -1);
         return concat({halves[0] * halves[1], halves[0] - halves[1]}, -1);
       }},
  };
}

TEST_P(ConcatKernels, AgreeWithTheUnfusedProgram) {
  for (const Shape& shape : {Shape{6, 64}, Shape{5, 34}, Shape{2, 3, 2046}})
    for (const DType dtype : {DType::f32, DType::bf16})
      for (const Program& program : programs()) {
        const Tensor x = random_tensor(dtype, shape);
        const Tensor want = compile(program.run, {.fuse = false})(x);
        const auto fused = compile(program.run, {.emulate_eager_rounding = true});
        const Tensor on_device = x.to(GetParam());
        EXPECT_TRUE(matches(fused(on_device).to("cpu"), want.shape(), want.dtype(), values_of(want),
                            {4096, 1e-4L}))
            << program.name << " of " << to_string(shape);
        EXPECT_EQ(fused.info({on_device}).kernels, program.kernels)
            << program.name << " of " << to_string(shape) << fused.explain({on_device});
      }
}

TEST_P(ConcatKernels, ExplainWhyTwoKernelsReadOneTensor) {
  const auto split = compile([](const Tensor& t) {
    return std::vector<Tensor>{exp(slice(t, 1, 0, 9)), tanh(slice(t, 1, 9, 40))};
  });
  const Tensor x = random_tensor(DType::f32, {64, 40}).to(GetParam());
  const std::string text = split.explain({x});
  EXPECT_EQ(text.find("every edge is fused"), std::string::npos) << text;
  EXPECT_NE(text.find("input is read by groups 0 and 1, which costs 2304 B: they walk different "
                      "shapes: (64, 9) and (64, 31)"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace sinter
