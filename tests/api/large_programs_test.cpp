// Programs that the planner splits because one kernel would get too large: they compile in few
// kernels, and their values are those of sums in double.
#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include <string>
#include <vector>

#include "tests/support/values.h"

namespace sinter::testing {
namespace {

using Tensors = std::vector<Tensor>;

const Shape kShape{6, 32};

Tensors random_tensors(unsigned count) {
  Tensors tensors;
  for (unsigned i = 0; i < count; ++i) tensors.push_back(random_tensor(DType::f32, kShape, i + 1));
  return tensors;
}

// A compiled function of a list of tensors.
CompiledFunction compiled(std::size_t arity, CompiledFunction::Traced body) {
  return CompiledFunction(std::move(body), static_cast<int>(arity), {});
}

TEST(LargePrograms, ManySumsOfOneTensor) {
  constexpr int kSums = 40;
  const Tensors inputs = random_tensors(1);
  const CompiledFunction f = compiled(1, [](std::span<const Tensor> in) {
    Tensors sums;
    for (int i = 0; i < kSums; ++i) sums.push_back(sum(in[0] * (1.0 + i), 1));
    return sums;
  });
  const Tensors got = f.call(inputs);
  ASSERT_EQ(got.size(), static_cast<std::size_t>(kSums));
  EXPECT_EQ(f.info(inputs).kernels, 3) << "16 sums to a kernel";
  const std::vector<Real> x = values_of(inputs[0]);
  for (int i = 0; i < kSums; ++i) {
    std::vector<Real> want(6, 0);
    for (std::size_t at = 0; at < x.size(); ++at) want[at / 32] += x[at] * (1 + i);
    EXPECT_TRUE(matches(got[static_cast<std::size_t>(i)], {6}, DType::f32, want,
                        {.ulps = 1, .absolute = 32 * 128 * (1 + i) * epsilon_of(DType::f32)}));
  }
}

TEST(LargePrograms, ManyTensorsAtOnce) {
  constexpr unsigned kResults = 300;
  const Tensors inputs = random_tensors(kResults + 1);
  const CompiledFunction f = compiled(inputs.size(), [](std::span<const Tensor> in) {
    Tensors results;
    for (std::size_t i = 0; i + 1 < in.size(); ++i) results.push_back(in[i] * in.back());
    return results;
  });
  const Tensors got = f.call(inputs);
  ASSERT_EQ(got.size(), std::size_t{kResults});
  EXPECT_EQ(f.info(inputs).kernels, 2) << "256 operations to a kernel";
  const std::vector<Real> shared = values_of(inputs.back());
  for (std::size_t i = 0; i < got.size(); ++i) {
    std::vector<Real> want = values_of(inputs[i]);
    for (std::size_t at = 0; at < want.size(); ++at) want[at] *= shared[at];
    EXPECT_TRUE(matches(got[i], kShape, DType::f32, want, {.ulps = 0.51}));
  }
}

TEST(LargePrograms, ALongSum) {
  constexpr unsigned kTerms = 300;
  const Tensors inputs = random_tensors(kTerms);
  const CompiledFunction f = compiled(kTerms, [](std::span<const Tensor> in) {
    Tensor total = in[0];
    for (std::size_t i = 1; i < in.size(); ++i) total = total + in[i];
    return Tensors{total};
  });
  const Tensor got = f.call(inputs)[0];
  EXPECT_EQ(f.info(inputs).kernels, 2) << "256 operations to a kernel";
  EXPECT_NE(f.explain(inputs).find("one kernel would have more than 256 operations"),
            std::string::npos);
  std::vector<Real> want(192, 0);
  for (const Tensor& input : inputs) {
    const std::vector<Real> values = values_of(input);
    for (std::size_t at = 0; at < want.size(); ++at) want[at] += values[at];
  }
  constexpr Real kMost = 4 * kTerms;  // of a partial sum: elements are below 4
  EXPECT_TRUE(matches(got, kShape, DType::f32, want,
                      {.ulps = 1, .absolute = kTerms * kMost * epsilon_of(DType::f32)}));
}

}  // namespace
}  // namespace sinter::testing
