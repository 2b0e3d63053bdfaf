// Elements in and out of tensors: from vectors, as numbers, as text.
#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include <array>
#include <cmath>
#include <limits>
#include <sstream>

#include "tests/support/errors.h"
#include "tests/support/gpu.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

constexpr std::int64_t kOdd = (std::int64_t{1} << 53) + 1;  // no double

TEST(FromVector, NeedsAsManyValuesAsTheShapeHas) {
  EXPECT_USER_ERROR(from_vector<float>({1, 2, 3}, {1000}),
                    "[from_vector] (1000) has 1000 elements, the vector has 3");
  EXPECT_USER_ERROR(from_vector<float>({1, 2, 3}, {4}),
                    "[from_vector] (4) has 4 elements, the vector has 3");
  EXPECT_USER_ERROR(from_vector<float>({1, 2, 3}, {2}),
                    "[from_vector] (2) has 2 elements, the vector has 3");
  EXPECT_USER_ERROR(from_vector<float>({1}, {0}),
                    "[from_vector] (0) has 0 elements, the vector has 1");
  EXPECT_EQ(from_vector<float>({}, {0, 4}).numel(), 0);
  EXPECT_TRUE(matches(from_vector<float>({1, 2, 3}, {3}), {1, 2, 3}));
}

TEST(FromVector, TakesBoolsAndShapesFromVectors) {
  const std::vector<std::int64_t> sizes{2, 2};
  const std::vector<bool> bits{true, false, false, true};
  const Tensor x = from_vector(bits, sizes);
  EXPECT_TRUE(matches(x, {2, 2}, DType::boolean, {1, 0, 0, 1}));
  EXPECT_EQ(x.to_vector<bool>(), bits);
  EXPECT_EQ(zeros(std::array<std::int64_t, 2>{3, 1}).shape(), (Shape{3, 1}));
}

TEST(CopyTo, NeedsADestination) {
  EXPECT_USER_ERROR(ones({2}).copy_to(nullptr), "[copy_to] the destination pointer is null");
  zeros({0}).copy_to(nullptr);
}

TEST(Item, ConvertsWhatTheTypeHolds) {
  EXPECT_EQ(full({}, kOdd, DType::i64).item<std::int64_t>(), kOdd);
  EXPECT_EQ(full({1, 1}, 2.5).item(), 2.5);
  EXPECT_EQ(full({}, 7, DType::i32).item<double>(), 7);
  EXPECT_EQ(full({}, 7).item<int>(), 7);
  EXPECT_EQ(full({}, 200, DType::i64).item<std::uint8_t>(), 200);
  EXPECT_TRUE(full({}, true, DType::boolean).item<bool>());
  EXPECT_TRUE(full({}, 1, DType::i64).item<bool>());
  EXPECT_EQ(full({}, 1.5, DType::f16).item<float>(), 1.5f);
  EXPECT_EQ(static_cast<float>(full({}, 1.5).item<Half>()), 1.5f);
  EXPECT_EQ(static_cast<float>(full({}, 1.5, DType::bf16).item<BFloat16>()), 1.5f);
  EXPECT_TRUE(std::isnan(full({}, std::nan("")).item<float>()));
  EXPECT_TRUE(std::isinf(full({}, std::numeric_limits<double>::infinity()).item()));
}

TEST(Item, RefusesWhatTheTypeDoesNotHold) {
  const std::string rest =
      " cannot be held exactly by the type asked for; cast the tensor, or ask for the C++ type of "
      "its "
      "dtype";
  EXPECT_USER_ERROR(full({}, kOdd, DType::i64).item(), "[item] the i64 9007199254740993" + rest);
  EXPECT_USER_ERROR(full({}, 0.5).item<int>(), "[item] the f32 0.5" + rest);
  EXPECT_USER_ERROR(full({}, -1, DType::i64).item<std::uint64_t>(), "[item] the i64 -1" + rest);
  EXPECT_USER_ERROR(full({}, 300, DType::i32).item<std::uint8_t>(), "[item] the i32 300" + rest);
  EXPECT_USER_ERROR(full({}, 2, DType::i32).item<bool>(), "[item] the i32 2" + rest);
  EXPECT_USER_ERROR(full({}, 0.1, DType::f64).item<float>(), "[item] the f64 0.1" + rest);
  EXPECT_USER_ERROR(full({}, 1e300, DType::f64).item<float>(), "[item] the f64 1e+300" + rest);
  EXPECT_USER_ERROR(full({}, std::nan("")).item<int>(), "[item] the f32 nan" + rest);
  EXPECT_USER_ERROR(full({}, std::numeric_limits<std::int64_t>::max(), DType::i64).item(),
                    "[item] the i64 9223372036854775807" + rest);
  EXPECT_USER_ERROR(full({}, 0x1p63, DType::f64).item<std::int64_t>(),
                    "[item] the f64 9.2234e+18" + rest);
}

TEST(Printing, IsExactForIntegers) {
  EXPECT_EQ(to_string(from_vector<std::int64_t>({kOdd, -kOdd}, {2})),
            "Tensor([9007199254740993, -9007199254740993], i64(2))");
  EXPECT_EQ(to_string(full({}, std::numeric_limits<std::int64_t>::min(), DType::i64)),
            "Tensor(-9223372036854775808, i64())");
}

TEST(Printing, OfEveryDtype) {
  EXPECT_EQ(to_string(tensor_of(DType::f32, {2, 2}, {1, -2.5L, 0, 1e10L})),
            "Tensor([[1, -2.5],\n [0, 1e+10]], f32(2, 2))");
  EXPECT_EQ(to_string(tensor_of(DType::f16, {1}, {0.1L})), "Tensor([0.099976], f16(1))");
  EXPECT_EQ(to_string(tensor_of(DType::bf16, {1}, {0.5L})), "Tensor([0.5], bf16(1))");
  EXPECT_EQ(to_string(tensor_of(DType::i32, {2}, {1, -1})), "Tensor([1, -1], i32(2))");
  EXPECT_EQ(to_string(tensor_of(DType::boolean, {2}, {1, 0})), "Tensor([true, false], bool(2))");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(to_string(from_vector<float>({-nan, nan}, {2})), "Tensor([nan, nan], f32(2))");
  EXPECT_EQ(to_string(transpose(counting_tensor({2, 2}), 0, 1)),
            "Tensor([[0, 2],\n [1, 3]], f32(2, 2))");
  EXPECT_EQ(to_string(arange(0, 1001)), "Tensor([0, 1, 2, ..., 998, 999, 1000], i64(1001))");
}

TEST(Printing, IntoStreams) {
  std::ostringstream out;
  out << ones({2}) << " " << Shape{4, 8} << " " << DType::bf16 << " " << Tensor();
  EXPECT_EQ(out.str(), "Tensor([1, 1], f32(2)) (4, 8) bf16 Tensor(undefined)");
}

TEST(Indexing, IsAViewOfOneIndex) {
  const Tensor x = counting_tensor({3, 2});
  EXPECT_TRUE(matches(x[1], {2}, DType::f32, {2, 3}));
  EXPECT_TRUE(matches(x[-1], {2}, DType::f32, {4, 5}));
  EXPECT_EQ(x[2][1].item(), 5);
  EXPECT_EQ(x[1].data(), static_cast<const float*>(x.data()) + 2);
  EXPECT_TRUE(
      matches(compile([](const Tensor& a) { return a[0] + a[2]; })(x), {2}, DType::f32, {4, 6}));
  EXPECT_USER_ERROR(x[3], "[index] there is no element 3 along the first axis of (3, 2)");
  EXPECT_USER_ERROR(x[-4], "[index] there is no element -4 along the first axis of (3, 2)");
  EXPECT_USER_ERROR(x[0][0][0], "[index] a tensor without axes has no element 0");
}

TEST(Assignment, RebindsTheHandle) {
  Tensor x = tensor_of(DType::f32, {2}, {1, 2});
  const Tensor before = x;
  x += 1;
  x *= before;
  x -= before;
  x /= 2;
  EXPECT_TRUE(matches(x, {0.5L, 2}));
  EXPECT_TRUE(matches(before, {1, 2})) << "tensors are values";
  const auto f = compile([](Tensor a) { return a += 1; });
  EXPECT_TRUE(matches(f(before), {2, 3}));
}

TEST(BadDtypes, AreErrors) {
  const auto bad = static_cast<DType>(99);
  float memory[6] = {};
  EXPECT_THROW(from_host(memory, {2, 3}, bad), UserError);
  EXPECT_THROW(from_memory(memory, {2}, {1}, bad, nullptr), UserError);
  EXPECT_THROW(zeros({2}, bad), UserError);
  EXPECT_THROW(cast(ones({2}), bad), UserError);
}

TEST(Likes, HaveTheShapeAndDtypeOfTheOther) {
  const Tensor x = transpose(counting_tensor({2, 3}, DType::i32), 0, 1);
  EXPECT_TRUE(matches(zeros_like(x), {3, 2}, DType::i32, std::vector<Real>(6, 0)));
  EXPECT_TRUE(matches(ones_like(x, DType::f16), {3, 2}, DType::f16, std::vector<Real>(6, 1)));
  EXPECT_TRUE(matches(full_like(x, 7), {3, 2}, DType::i32, std::vector<Real>(6, 7)));
  EXPECT_TRUE(matches(
      compile([](const Tensor& a) { return a + ones_like(a); })(counting_tensor({2})), {1, 2}));
}

TEST(Likes, AreOnTheOthersDeviceOnSimt) {
  SINTER_NEEDS_DEVICE("simt");
  EXPECT_EQ(zeros_like(ones({2}).to("simt")).device(), "simt");
}

TEST(GenericFunctions, CompileWhereTheArityIsGiven) {
  const auto f = compile<2>([](auto x, auto y) { return x * 2 + y; });
  EXPECT_TRUE(matches(f(ones({2}), counting_tensor({2})), {2, 3}));
  const auto g = compile<1>([](const auto& x) { return std::pair(x, x + 1); }, {.fuse = false});
  EXPECT_TRUE(matches(g(ones({1})).second, {2}));
  EXPECT_EQ(f.arity(), 2);
}

}  // namespace
}  // namespace sinter::testing
