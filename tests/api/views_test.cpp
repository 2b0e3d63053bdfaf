// Views move no data and describe it correctly; operations that must copy copy correctly.
#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include <functional>
#include <tuple>

#include "tests/support/values.h"

namespace sinter::testing {
namespace {

bool shares_memory(const Tensor& view, const Tensor& base) {
  const auto* begin = static_cast<const char*>(base.data());
  const auto bytes = static_cast<std::size_t>(base.numel()) * size_of(base.dtype());
  const auto* at = static_cast<const char*>(view.data());
  return at >= begin && at < begin + bytes;
}

// The view's description, to_vector()'s copy and an operation's result must agree.
void expect_view(const Tensor& view, const Shape& shape, const std::vector<Real>& want) {
  EXPECT_TRUE(matches(view, shape, DType::f32, want));
  const std::vector<float> copied = view.to_vector<float>();
  EXPECT_EQ(std::vector<Real>(copied.begin(), copied.end()), want);
  std::vector<Real> next = want;
  for (Real& value : next) value += 1;
  EXPECT_TRUE(matches(view + 1, shape, DType::f32, next));
}

TEST(Views, CopyNothing) {
  const Tensor x = counting_tensor({4, 6, 5});
  const std::tuple<const char*, Tensor> views[] = {
      {"permute", permute(x, {2, 0, 1})},
      {"transpose", transpose(x, 0, -1)},
      {"slice", slice(x, 1, 2, 6, 2)},
      {"reshape", reshape(x, {24, 5})},
      {"flatten", flatten(x)},
      {"squeeze", squeeze(slice(x, 0, 1, 2))},
      {"unsqueeze", unsqueeze(x, 1)},
      {"expand", expand(slice(x, 0, 1, 2), {9, 6, 5})},
      {"broadcast_to", broadcast_to(x, {2, 4, 6, 5})},
      {"broadcast", broadcast({x, zeros({7, 1, 1, 1})})[0]},
      {"chunk", chunk(x, 2, 1)[1]},
      {"split", split(x, {1, 3})[1]},
      {"contiguous", contiguous(x)},
      {"copy", copy(x)},
      {"cast", cast(x, DType::f32)},
  };
  const DeviceMemory before = device_memory();
  for (const auto& [name, view] : views) EXPECT_TRUE(shares_memory(view, x)) << name;
  transpose(slice(x, 1, 2, 6, 2), 0, 2);
  EXPECT_EQ(device_memory().in_use, before.in_use);
}

TEST(Views, KeepTheMemoryAlive) {
  Tensor view = slice(counting_tensor({1000}), 0, 10, 13);
  for (int i = 0; i < 4; ++i) counting_tensor({1000}) + 1;
  expect_view(view, {3}, {10, 11, 12});
}

TEST(Permute, ReordersAxes) {
  const Tensor x = counting_tensor({2, 3});
  expect_view(permute(x, {1, 0}), {3, 2}, {0, 3, 1, 4, 2, 5});
  expect_view(permute(x, {-1, -2}), {3, 2}, {0, 3, 1, 4, 2, 5});
  expect_view(transpose(x, 0, 1), {3, 2}, {0, 3, 1, 4, 2, 5});
  expect_view(transpose(x, 1, 1), {2, 3}, {0, 1, 2, 3, 4, 5});
  const Tensor y = counting_tensor({2, 2, 3});
  expect_view(permute(y, {2, 0, 1}), {3, 2, 2}, {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11});
  EXPECT_EQ(permute(full({}, 1), {}).rank(), 0);
}

TEST(Slice, FollowsPython) {
  const Tensor x = counting_tensor({10});
  expect_view(slice(x, 0, 2, 5), {3}, {2, 3, 4});
  expect_view(slice(x, 0, 1, 10, 4), {3}, {1, 5, 9});
  expect_view(slice(x, 0, -3, 10), {3}, {7, 8, 9});
  expect_view(slice(x, 0, 0, -7), {3}, {0, 1, 2});
  expect_view(slice(x, 0, -100, 2), {2}, {0, 1});
  expect_view(slice(x, -1, 8, 100), {2}, {8, 9});
  expect_view(slice(x, 0, 5, 5), {0}, {});
  expect_view(slice(x, 0, 7, 3), {0}, {});
  expect_view(slice(x, 0, 100, 200), {0}, {});
  expect_view(slice(slice(x, 0, 1, 10, 2), 0, 1, 5, 2), {2}, {3, 7});
  expect_view(slice(counting_tensor({3, 4}), 1, 1, 3), {3, 2}, {1, 2, 5, 6, 9, 10});
  expect_view(slice(counting_tensor({3, 4}), -2, 1, 2), {1, 4}, {4, 5, 6, 7});
}

TEST(Reshape, IsAViewWhereItCanBe) {
  const Tensor x = counting_tensor({4, 6});
  for (const Shape& shape : {Shape{24}, Shape{2, 2, 6}, Shape{4, 3, 2}, Shape{8, 3}, Shape{-1},
                             Shape{2, -1}, Shape{1, 4, 1, 6, 1}, Shape{2, 2, 2, 3}})
    EXPECT_TRUE(shares_memory(reshape(x, shape), x)) << to_string(shape);
  // Rows with gaps: each row can be split, but rows cannot be joined.
  const Tensor part = slice(x, 1, 0, 4);
  EXPECT_TRUE(shares_memory(reshape(part, {4, 2, 2}), x));
  EXPECT_TRUE(shares_memory(reshape(part, {2, 2, 4}), x));
  EXPECT_FALSE(shares_memory(reshape(part, {16}), x));
  const Tensor turned = transpose(x, 0, 1);
  EXPECT_TRUE(shares_memory(reshape(turned, {2, 3, 4}), x));
  EXPECT_FALSE(shares_memory(reshape(turned, {24}), x));
  EXPECT_TRUE(shares_memory(reshape(expand(slice(x, 0, 0, 1), {5, 6}), {5, 2, 3}), x));
}

TEST(Reshape, KeepsTheOrder) {
  const Tensor x = counting_tensor({2, 3});
  expect_view(reshape(x, {3, 2}), {3, 2}, {0, 1, 2, 3, 4, 5});
  expect_view(reshape(x, {-1}), {6}, {0, 1, 2, 3, 4, 5});
  expect_view(reshape(x, {3, -1}), {3, 2}, {0, 1, 2, 3, 4, 5});
  expect_view(flatten(transpose(x, 0, 1)), {6}, {0, 3, 1, 4, 2, 5});
  expect_view(reshape(transpose(x, 0, 1), {2, 3}), {2, 3}, {0, 3, 1, 4, 2, 5});
  expect_view(reshape(expand(slice(x, 0, 0, 1), {2, 3}), {3, 2}), {3, 2}, {0, 1, 2, 0, 1, 2});
  expect_view(reshape(full({1, 1}, 7), {}), {}, {7});
  expect_view(reshape(full({}, 7), {1, 1, 1}), {1, 1, 1}, {7});
  expect_view(flatten(full({}, 7)), {1}, {7});
  EXPECT_EQ(reshape(zeros({0, 3}), {5, 0}).shape(), (Shape{5, 0}));
  EXPECT_EQ(reshape(zeros({0, 3}), {-1, 3}).shape(), (Shape{0, 3}));
}

TEST(Contiguous, CopiesOnlyWhatIsNot) {
  const Tensor x = counting_tensor({5, 7});
  const Tensor turned = transpose(x, 0, 1);
  const Tensor copied = contiguous(turned);
  EXPECT_TRUE(shares_memory(contiguous(x), x));
  EXPECT_TRUE(shares_memory(contiguous(slice(x, 0, 2, 4)), x));
  EXPECT_FALSE(turned.is_contiguous());
  EXPECT_TRUE(copied.is_contiguous());
  EXPECT_FALSE(shares_memory(copied, x));
  EXPECT_EQ(values_of(copied), values_of(turned));
  EXPECT_TRUE(contiguous(zeros({0, 3})).is_contiguous());
}

TEST(Squeeze, DropsAxesOfOne) {
  const Tensor x = counting_tensor({1, 3, 1, 2});
  EXPECT_EQ(squeeze(x).shape(), (Shape{3, 2}));
  EXPECT_EQ(squeeze(x, 0).shape(), (Shape{3, 1, 2}));
  EXPECT_EQ(squeeze(x, -2).shape(), (Shape{1, 3, 2}));
  EXPECT_EQ(squeeze(x, 1).shape(), x.shape());
  EXPECT_EQ(squeeze(full({1, 1}, 1)).shape(), Shape{});
  EXPECT_EQ(unsqueeze(x, 0).shape(), (Shape{1, 1, 3, 1, 2}));
  EXPECT_EQ(unsqueeze(x, -1).shape(), (Shape{1, 3, 1, 2, 1}));
  EXPECT_EQ(unsqueeze(full({}, 1), 0).shape(), Shape{1});
}

TEST(Expand, RepeatsWithoutCopying) {
  const Tensor x = counting_tensor({3, 1});
  expect_view(expand(x, {3, 2}), {3, 2}, {0, 0, 1, 1, 2, 2});
  expect_view(expand(x, {2, 3, 1}), {2, 3, 1}, {0, 1, 2, 0, 1, 2});
  expect_view(expand(x, {-1, 2}), {3, 2}, {0, 0, 1, 1, 2, 2});
  EXPECT_EQ(expand(x, {3, 0}).numel(), 0);
  const std::vector<Tensor> both = broadcast({x, counting_tensor({2})});
  expect_view(both[0], {3, 2}, {0, 0, 1, 1, 2, 2});
  expect_view(both[1], {3, 2}, {0, 1, 0, 1, 0, 1});
}

TEST(Split, CutsAlongAnAxis) {
  const Tensor x = counting_tensor({5, 2});
  const std::vector<Tensor> parts = split(x, {1, 0, 4});
  ASSERT_EQ(parts.size(), 3u);
  expect_view(parts[0], {1, 2}, {0, 1});
  EXPECT_EQ(parts[1].shape(), (Shape{0, 2}));
  expect_view(parts[2], {4, 2}, {2, 3, 4, 5, 6, 7, 8, 9});
  expect_view(split(x, {1, 1}, -1)[1], {5, 1}, {1, 3, 5, 7, 9});
}

TEST(Chunk, MakesEqualPartsAndARest) {
  auto sizes = [](const std::vector<Tensor>& parts) {
    std::vector<std::int64_t> list;
    for (const Tensor& part : parts) list.push_back(part.size(0));
    return list;
  };
  using Sizes = std::vector<std::int64_t>;
  EXPECT_EQ(sizes(chunk(zeros({6}), 3)), (Sizes{2, 2, 2}));
  EXPECT_EQ(sizes(chunk(zeros({7}), 3)), (Sizes{3, 3, 1}));
  EXPECT_EQ(sizes(chunk(zeros({5}), 4)), (Sizes{2, 2, 1}));
  EXPECT_EQ(sizes(chunk(zeros({2}), 5)), (Sizes{1, 1}));
  EXPECT_EQ(sizes(chunk(zeros({0}), 3)), (Sizes{0}));
  expect_view(chunk(counting_tensor({2, 4}), 2, 1)[1], {2, 2}, {2, 3, 6, 7});
}

// --- concat and stack ---------------------------------------------------------------------------

// Finds every element of the joined tensor by index.
std::vector<Real> joined(const std::vector<Tensor>& parts, int axis) {
  std::int64_t outer = 1;
  for (int i = 0; i < axis; ++i) outer *= parts[0].size(i);
  std::vector<Real> values;
  for (std::int64_t o = 0; o < outer; ++o)
    for (const Tensor& part : parts) {
      const std::vector<Real> all = values_of(part);
      const auto row = static_cast<std::ptrdiff_t>(all.size()) / outer;
      values.insert(values.end(), all.begin() + row * o, all.begin() + row * (o + 1));
    }
  return values;
}

TEST(Concat, JoinsAlongEveryAxis) {
  for (DType dtype : kAllDTypes)
    for (int axis = 0; axis < 3; ++axis) {
      std::vector<Tensor> parts;
      for (std::int64_t size : {2, 0, 5, 1}) {
        Shape shape{3, 4, 17};
        shape[axis] = size;
        parts.push_back(random_tensor(dtype, shape, static_cast<unsigned>(size) + 1));
      }
      Shape shape{3, 4, 17};
      shape[axis] = 8;
      EXPECT_TRUE(matches(concat(parts, axis), shape, dtype, joined(parts, axis)))
          << name_of(dtype) << " along " << axis;
      EXPECT_TRUE(matches(concat(parts, axis - 3), shape, dtype, joined(parts, axis)));
    }
}

TEST(Concat, OfViewsAndOfItself) {
  const Tensor x = counting_tensor({6, 7});
  const Tensor turned = transpose(counting_tensor({7, 3}), 0, 1);
  const std::vector<Tensor> parts{x, slice(x, 0, 0, 6, 3), turned, x, expand(x, {6, 7})};
  EXPECT_TRUE(matches(concat(parts), {23, 7}, DType::f32, joined(parts, 0)));
  EXPECT_TRUE(matches(concat({x}), values_of(x)));
  const auto twice = compile([](const Tensor& a) { return concat({a, a * 2, a}, 1); });
  EXPECT_TRUE(matches(twice(x), joined({x, x + x, x}, 1)));
}

TEST(Concat, PromotesDTypes) {
  const Tensor joined_types = concat({tensor_of(DType::i32, {2}, {1, 2}), full({1}, 0.5)});
  EXPECT_TRUE(matches(joined_types, {3}, DType::f32, {1, 2, 0.5L}));
  EXPECT_EQ(concat({zeros({1}, DType::f16), zeros({1}, DType::bf16)}).dtype(), DType::f32);
}

TEST(Concat, OfComputedPartsInsideACompiledFunction) {
  const Tensor a = random_tensor(DType::f32, {33, 9}, 1);
  const Tensor b = random_tensor(DType::f32, {33, 21}, 2);
  auto f = [](const Tensor& x, const Tensor& y) {
    const Tensor whole = concat({x + 1, concat({y * 2, x}, 1), exp(x) * 0}, 1);
    return std::tuple(whole, sum(whole, 1), whole * 2);
  };
  const auto [whole, sums, doubled] = compile(f)(a, b);
  const std::vector<Real> want = joined({a + 1, b * 2, a, a * 0}, 1);
  EXPECT_TRUE(matches(whole, {33, 48}, DType::f32, want));
  EXPECT_TRUE(matches(doubled, values_of(whole * 2)));
  EXPECT_TRUE(matches(sums, values_of(sum(whole, 1)), {4, 1e-4L}));
}

TEST(Stack, AddsAnAxis) {
  const Tensor a = counting_tensor({2, 3});
  const Tensor b = a + 10;
  expect_view(stack({a, b}), {2, 2, 3}, {0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15});
  expect_view(stack({a, b}, 1), {2, 2, 3}, {0, 1, 2, 10, 11, 12, 3, 4, 5, 13, 14, 15});
  expect_view(stack({a, b}, -1), {2, 3, 2}, {0, 10, 1, 11, 2, 12, 3, 13, 4, 14, 5, 15});
  expect_view(stack({full({}, 1), full({}, 2)}), {2}, {1, 2});
}

// --- views inside compiled functions ------------------------------------------------------------

TEST(TracedViews, ReadWhatTheyWouldReadEagerly) {
  using Function = std::function<Tensor(const Tensor&)>;
  const std::pair<const char*, Function> functions[] = {
      {"transposed result", [](const Tensor& x) { return transpose(x + 1, 0, 1); }},
      {"transposed twice", [](const Tensor& x) { return transpose(transpose(x, 0, 1) * 2, 0, 1); }},
      {"x + its transpose",
       [](const Tensor& x) {
         const Tensor square = slice(x, 1, 0, 19);
         return square + transpose(square, 0, 1);
       }},
      {"slices of a result",
       [](const Tensor& x) {
         const Tensor y = exp(x);
         return slice(y, 1, 0, 20, 2) + slice(y, 1, 1, 20, 2);
       }},
      {"reshaped result",
       [](const Tensor& x) {
         return reshape(x * 3, {-1, 38}) + 1;
       }},
      {"reshape that copies",
       [](const Tensor& x) { return reshape(transpose(x + 1, 0, 1), {-1}) * 2; }},
      {"reshape of a sum",
       [](const Tensor& x) {
         return x - reshape(sum(x, 1), {19, 1});
       }},
      {"row after row", [](const Tensor& x) { return slice(x, 0, 1, 19) - slice(x, 0, 0, 18); }},
      {"expanded",
       [](const Tensor& x) {
         return expand(unsqueeze(x * 2, 1), {19, 3, 20}) + 1;
       }},
      {"permuted sum",
       [](const Tensor& x) {
         return sum(permute(x * 2, {1, 0}), 0);
       }},
      {"halves",
       [](const Tensor& x) {
         const std::vector<Tensor> halves = chunk(x, 2, 1);
         return halves[0] * sigmoid(halves[1]);
       }},
      {"rotated",
       [](const Tensor& x) {
         const std::vector<Tensor> halves = chunk(x, 2, 1);
         return concat({-halves[1], halves[0]}, 1) * x;
       }},
  };
  const Tensor x = random_tensor(DType::f32, {19, 20});
  for (const auto& [name, function] : functions) {
    const Tensor eager = function(x);
    for (bool fuse : {true, false}) {
      const auto compiled = compile(function, {.fuse = fuse});
      EXPECT_TRUE(matches(compiled(x), eager.shape(), eager.dtype(), values_of(eager), {4, 1e-5L}))
          << name << (fuse ? "" : " without fusion");
    }
  }
}

// --- data in and out ----------------------------------------------------------------------------

TEST(HostData, ComesBackAsItWent) {
  const std::vector<std::int64_t> values{1, -2, 9007199254740993};
  EXPECT_EQ(from_vector(values, {3}).to_vector<std::int64_t>(), values);
  EXPECT_EQ((tensor_of(DType::boolean, {3}, {1, 0, 1}).to_vector<bool>()),
            (std::vector<bool>{true, false, true}));
  const std::vector<Half> halves = tensor_of(DType::f16, {2}, {1.5L, -2}).to_vector<Half>();
  EXPECT_EQ(static_cast<float>(halves[0]), 1.5f);
  EXPECT_EQ(static_cast<float>(halves[1]), -2.f);
  EXPECT_EQ(tensor_of(DType::i64, {}, {42}).item(), 42);
  EXPECT_EQ(tensor_of(DType::boolean, {1, 1}, {1}).item(), 1);
}

TEST(HostData, FromMemoryIsNotCopied) {
  auto memory = std::make_shared<std::vector<float>>(12);
  for (std::size_t i = 0; i < 12; ++i) (*memory)[i] = static_cast<float>(i);
  const std::weak_ptr<std::vector<float>> watch = memory;
  Tensor x = from_memory(memory->data(), {3, 2}, {4, 1}, DType::f32, memory);
  EXPECT_EQ(x.data(), memory->data());
  memory.reset();
  expect_view(x, {3, 2}, {0, 1, 4, 5, 8, 9});
  x = Tensor();
  EXPECT_TRUE(watch.expired());
}

TEST(Printing, ShowsValuesDTypeAndShape) {
  EXPECT_EQ(to_string(counting_tensor({2, 2})), "Tensor([[0, 1],\n [2, 3]], f32(2, 2))");
  EXPECT_EQ(to_string(full({}, 1.5)), "Tensor(1.5, f32())");
  EXPECT_EQ(to_string(zeros({0, 3})), "Tensor([], f32(0, 3))");
  EXPECT_EQ(to_string(full({2}, true, DType::boolean)), "Tensor([true, true], bool(2))");
  EXPECT_EQ(to_string(arange(0, 2000)), "Tensor([0, 1, 2, ..., 1997, 1998, 1999], i64(2000))");
  EXPECT_EQ(to_string(Tensor()), "Tensor(undefined)");
}

}  // namespace
}  // namespace sinter::testing
