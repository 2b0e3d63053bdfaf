// Every row of ops.def with every dtype on the GPU and on the simt device (which runs GPU kernels)
// against its reference, including special values; casts between all dtypes.
#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>

#include "tests/support/gpu.h"
#include "tests/support/op_columns.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

// Bounds of kernels/cuda/math.cuh for f32 where they are weaker than those tests/support uses for a
// CPU: exp(a) is off by 2 + |a| ulps, and so are functions built from it, in proportion; subnormal
// results of exp and 1/x inside them are 0. 16-bit sines and cosines are off by 2^-20 before
// rounding.
Tolerance gpu_tolerance(const OpRow& op, DType result, Real a) {
  Tolerance tolerance = tolerance_of(op, result);
  if ((op.name == "sin" || op.name == "cos") && size_of(result) == 2) {
    tolerance.ulps = 0.51;
    tolerance.absolute = std::max<Real>(tolerance.absolute, 0x1p-19L);
    return tolerance;
  }
  if (!is_floating(result) || result == DType::f64 || std::isnan(a)) return tolerance;
  const Real least_normal = std::ldexp(Real{1}, -126);
  const Real size = std::fabs(a);
  Real ulps = 0;
  Real lost = least_normal;
  if (op.name == "exp") ulps = 2 + size;
  const Real weight = 1 / (1 + std::exp(a));  // of exp(-a) in 1 + exp(-a)
  if (op.name == "sigmoid") ulps = weight * (2 + size) + 2;
  if (op.name == "silu") {
    ulps = weight * (2 + size) + 3;
    lost *= std::max<Real>(1, size);
  }
  if (op.name == "softplus") ulps = (a < 0 ? 2 + size : 2) + 2;
  if (op.name == "gelu_tanh") {
    ulps = op.f32_ulps;
    lost *= std::max<Real>(1, size);
  }
  if (ulps == 0 || !std::isfinite(ulps)) return tolerance;
  if (result == DType::f16) ulps = 0.5L + ulps * 0x1p-12L;
  if (result == DType::bf16) ulps = 0.5L + ulps * 0x1p-15L;
  tolerance.ulps = static_cast<double>(ulps);
  if (result != DType::f16) tolerance.absolute = std::max(tolerance.absolute, lost);
  return tolerance;
}

void expect_op(const OpRow& op, DType dtype, const Columns& columns, const Tensor& result) {
  const DType result_dtype = expected_dtype(op.rule, dtype);
  ASSERT_EQ(result.dtype(), result_dtype) << op.name;
  const std::vector<Real> got = values_of(result.to("cpu"));
  const std::vector<Real> want = reference_column(op, dtype, columns);
  ASSERT_EQ(got.size(), want.size());
  constexpr int kShown = 4;
  int wrong = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const Real a = round_to(operand_dtype(op.rule, dtype), columns[0][i]);
    const std::string why =
        difference(result_dtype, got[i], want[i], gpu_tolerance(op, result_dtype, a));
    if (why.empty() || ++wrong > kShown) continue;
    std::string operands;
    for (const auto& column : columns)
      operands += " " + std::to_string(static_cast<double>(column[i]));
    ADD_FAILURE() << op.name << " of " << name_of(dtype) << operands << ": " << why;
  }
  EXPECT_LE(wrong, kShown) << op.name << ": " << wrong << " of " << want.size() << " are wrong";
}

void expect_table(const std::string& device, int arity, DType dtype) {
  const std::vector<OpRow> rows = rows_of_arity(arity, dtype);
  const Columns columns = operand_values(dtype, arity);
  const std::vector<Tensor> inputs = tensors_of(dtype, columns, device);
  constexpr std::size_t kOpsAtOnce = 12;
  for (std::size_t begin = 0; begin < rows.size(); begin += kOpsAtOnce) {
    const std::size_t end = std::min(begin + kOpsAtOnce, rows.size());
    const std::vector<OpRow> ops(rows.begin() + static_cast<std::ptrdiff_t>(begin),
                                 rows.begin() + static_cast<std::ptrdiff_t>(end));
    const std::vector<Tensor> results = compile_ops(ops, arity).call(inputs);
    for (std::size_t i = 0; i < ops.size(); ++i) {
      EXPECT_EQ(results[i].device(), device);
      expect_op(ops[i], dtype, columns, results[i]);
    }
  }
}

void expect_casts(const std::string& device, DType from) {
  const Columns columns = operand_values(from, 1);
  const auto cast_to_all = compile([](const Tensor& x) {
    std::vector<Tensor> results;
    for (DType to : kAllDTypes) results.push_back(cast(x, to));
    return results;
  });
  const std::vector<Tensor> results = cast_to_all(tensors_of(from, columns, device)[0]);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const DType to = kAllDTypes[i];
    const std::vector<Real> got = values_of(results[i].to("cpu"));
    for (std::size_t k = 0; k < got.size(); ++k) {
      const Real value = columns[0][k];
      // Out-of-range conversions from float to integer are undefined.
      const Real whole = std::trunc(value);
      if (is_floating(from) && is_integer(to) &&
          !(whole >= least_of(to) && whole <= largest_of(to)))
        continue;
      EXPECT_EQ(difference(to, got[k], value, {0.501, 0, true}), "")
          << name_of(from) << " to " << name_of(to) << " of " << static_cast<double>(value);
    }
  }
}

using Row = std::tuple<int, DType>;

std::string name_of_row(const ::testing::TestParamInfo<Row>& each) {
  return "arity" + std::to_string(std::get<0>(each.param)) + "_" +
         std::string(name_of(std::get<1>(each.param)));
}

const auto kRows = ::testing::Combine(::testing::Values(1, 2, 3), ::testing::ValuesIn(kAllDTypes));

class GpuEveryOp : public ::testing::TestWithParam<Row> {
 protected:
  void SetUp() override { SINTER_NEEDS_GPU(); }
};

TEST_P(GpuEveryOp, MatchesItsReference) {
  expect_table("cuda", std::get<0>(GetParam()), std::get<1>(GetParam()));
}
INSTANTIATE_TEST_SUITE_P(Table, GpuEveryOp, kRows, name_of_row);

class SimtEveryOp : public ::testing::TestWithParam<Row> {
 protected:
  void SetUp() override { SINTER_NEEDS_DEVICE("simt"); }
};

TEST_P(SimtEveryOp, MatchesItsReference) {
  expect_table("simt", std::get<0>(GetParam()), std::get<1>(GetParam()));
}
INSTANTIATE_TEST_SUITE_P(Table, SimtEveryOp, kRows, name_of_row);

TEST(GpuCasts, AreExact) {
  SINTER_NEEDS_GPU();
  for (DType from : kAllDTypes) expect_casts("cuda", from);
}

TEST(SimtCasts, AreExact) {
  SINTER_NEEDS_DEVICE("simt");
  for (DType from : kAllDTypes) expect_casts("simt", from);
}

// Offsets have 32 bits for small tensors; 64-bit integers are not offsets.
void expect_whole_numbers_in_64_bits(const std::string& device) {
  constexpr std::int64_t kStep = 1'000'000;
  const Tensor far = arange(0, 10'000 * kStep, kStep, DType::i64, device);
  const std::vector<std::int64_t> steps = far.to("cpu").to_vector<std::int64_t>();
  ASSERT_EQ(steps.size(), 10'000u);
  for (std::size_t i = 0; i < steps.size(); ++i)
    ASSERT_EQ(steps[i], static_cast<std::int64_t>(i) * kStep) << i;

  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  const auto function = compile([](const Tensor& x) {
    const Tensor products = arange(0, 100'000, 1, DType::i64) * 100'000;
    return std::pair{sum(products + x), where(x < 0, x, kLeast)};
  });
  const auto [total, least] = function(full({100'000}, 7, DType::i64, device));
  EXPECT_EQ(total.to("cpu").to_vector<std::int64_t>()[0],
            std::int64_t{100'000} * 99'999 / 2 * 100'000 + 700'000);
  EXPECT_EQ(least.to("cpu").to_vector<std::int64_t>()[12'345], kLeast);
}

// x + x is 0 for the least number, which a compiler may not assume away.
void expect_wrapping(const std::string& device) {
  for (DType dtype : {DType::i32, DType::i64}) {
    const std::int64_t least = dtype == DType::i32 ? std::numeric_limits<std::int32_t>::min()
                                                   : std::numeric_limits<std::int64_t>::min();
    const auto f = compile([](const Tensor& x) {
      return std::vector{(x + x) != 0,   (x - 1) < x,  -x == x,
                         square(x) == 0, (x * 3) == x, (x + -1) > x};
    });
    const std::vector<Tensor> got = f(full({64}, least, dtype, device));
    const bool want[] = {false, false, true, true, true, true};
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_EQ(cast(got[i].to("cpu"), DType::i32).to_vector<std::int32_t>()[5], want[i])
          << name_of(dtype) << " " << i;
  }
}

TEST(GpuWholeNumbers, WrapAround) {
  SINTER_NEEDS_GPU();
  expect_wrapping("cuda");
}

TEST(SimtWholeNumbers, WrapAround) {
  SINTER_NEEDS_DEVICE("simt");
  expect_wrapping("simt");
}

TEST(CpuWholeNumbers, WrapAround) { expect_wrapping("cpu"); }

TEST(GpuWholeNumbers, Have64Bits) {
  SINTER_NEEDS_GPU();
  expect_whole_numbers_in_64_bits("cuda");
}

TEST(SimtWholeNumbers, Have64Bits) {
  SINTER_NEEDS_DEVICE("simt");
  expect_whole_numbers_in_64_bits("simt");
}

}  // namespace
}  // namespace sinter::testing
