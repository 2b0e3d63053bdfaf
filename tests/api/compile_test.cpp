// compile(): results of every form; captured, nested, shared and constant values; many shapes and
// threads; and explain(), info() and dump().
#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <optional>
#include <thread>

#include "tests/support/values.h"

namespace sinter::testing {
namespace {

std::vector<Real> mapped(const Tensor& x, Real (*function)(Real)) {
  std::vector<Real> values = values_of(x);
  for (Real& value : values) value = function(value);
  return values;
}
Real plus_one(Real x) { return x + 1; }
Real doubled(Real x) { return x * 2; }
Real squared(Real x) { return x * x; }

Tensor add_one(const Tensor& x) { return x + 1; }

// --- forms of results ---------------------------------------------------------------------------

TEST(CompiledResults, OfEveryForm) {
  const Tensor x = random_tensor(DType::f32, {5, 7});
  const std::vector<Real> one_more = mapped(x, plus_one);
  const std::vector<Real> twice = mapped(x, doubled);
  const Tolerance half{0.5};

  EXPECT_TRUE(matches(compile([](const Tensor& a) { return a + 1; })(x), one_more, half));
  const auto pair = compile([](const Tensor& a) { return std::pair(a + 1, a * 2); })(x);
  EXPECT_TRUE(matches(pair.first, one_more, half));
  EXPECT_TRUE(matches(pair.second, twice));
  const auto tuple = compile([](Tensor a) { return std::tuple(a * 2, a + 1, a - a); })(x);
  EXPECT_TRUE(matches(std::get<0>(tuple), twice));
  EXPECT_TRUE(matches(std::get<1>(tuple), one_more, half));
  EXPECT_TRUE(matches(std::get<2>(tuple), std::vector<Real>(35, 0)));
  const std::array<Tensor, 2> array = compile([](const Tensor& a) {
    return std::array<Tensor, 2>{a * 2, a + 1};
  })(x);
  EXPECT_TRUE(matches(array[1], one_more, half));
  const std::vector<Tensor> list = compile([](const Tensor& a) {
    return std::vector<Tensor>{a * 2, a + 1};
  })(x);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_TRUE(matches(list[0], twice));
}

TEST(CompiledResults, OfEveryKindOfFunction) {
  const Tensor x = random_tensor(DType::f32, {9});
  const std::vector<Real> want = mapped(x, plus_one);
  const Tolerance half{0.5};
  int traced = 0;
  EXPECT_TRUE(matches(compile(add_one)(x), want, half));
  EXPECT_TRUE(matches(compile(&add_one)(x), want, half));
  EXPECT_TRUE(matches(compile(std::function<Tensor(Tensor)>(add_one))(x), want, half));
  EXPECT_TRUE(matches(compile([](const Tensor& a) noexcept { return a + 1; })(x), want, half));
  EXPECT_TRUE(
      matches(compile([traced](const Tensor& a) mutable { return a + ++traced; })(x), want, half));
  const auto list =
      compile_list([](std::span<const Tensor> a) { return std::vector<Tensor>{a[0] + a[1]}; }, 2);
  EXPECT_EQ(list.arity(), 2);
  EXPECT_TRUE(matches(list.call(std::vector<Tensor>{x, ones({9})})[0], want, half));
  const auto nothing = compile([] { return full({3}, 2) * 3; });
  EXPECT_EQ(nothing.arity(), 0);
  EXPECT_TRUE(matches(nothing(), {6, 6, 6}));
  const auto four = compile([](Tensor a, Tensor b, Tensor c, Tensor d) { return a + b * c - d; });
  EXPECT_TRUE(matches(four(x, x, x, x), mapped(x, squared), {2, 1e-6L}));
}

TEST(CompiledResults, ThatAreInputsShareTheirMemory) {
  const Tensor x = counting_tensor({4, 6});
  auto f = [](const Tensor& a) {
    return std::tuple(a, transpose(a, 0, 1), slice(a, 1, 2, 4), a + 1, reshape(a, {24}));
  };
  const auto [same, turned, part, next, flat] = compile(f)(x);
  EXPECT_EQ(same.data(), x.data());
  EXPECT_EQ(turned.data(), x.data());
  EXPECT_EQ(turned.shape(), (Shape{6, 4}));
  EXPECT_EQ(part.data(), static_cast<const float*>(x.data()) + 2);
  EXPECT_EQ(flat.data(), x.data());
  EXPECT_TRUE(matches(part, {4, 2}, DType::f32, values_of(slice(x, 1, 2, 4))));
  EXPECT_TRUE(matches(next, values_of(x + 1)));
}

TEST(CompiledResults, ThatAreViewsOfWhatIsComputed) {
  const Tensor x = counting_tensor({4, 6});
  auto f = [](const Tensor& a) {
    const Tensor y = a * 2;
    return std::tuple(y, transpose(y, 0, 1), slice(y, 0, 1, 3), slice(y, 1, 5, 6));
  };
  const auto [whole, turned, rows, column] = compile(f)(x);
  const Tensor want = x * 2;
  EXPECT_TRUE(matches(whole, {4, 6}, DType::f32, values_of(want)));
  EXPECT_TRUE(matches(turned, {6, 4}, DType::f32, values_of(transpose(want, 0, 1))));
  EXPECT_TRUE(matches(rows, {2, 6}, DType::f32, values_of(slice(want, 0, 1, 3))));
  EXPECT_TRUE(matches(column, {4, 1}, DType::f32, values_of(slice(want, 1, 5, 6))));
}

TEST(CompiledResults, MayBeTheSameTwice) {
  const Tensor x = counting_tensor({5});
  auto f = [](const Tensor& a) {
    const Tensor y = a + 1;
    return std::tuple(y, y, a + 1, a, a);
  };
  const auto [first, second, equal, same, again] = compile(f)(x);
  for (const Tensor& each : {first, second, equal}) EXPECT_TRUE(matches(each, {1, 2, 3, 4, 5}));
  for (const Tensor& each : {same, again}) EXPECT_TRUE(matches(each, {0, 1, 2, 3, 4}));
}

TEST(CompiledResults, MayBeConstant) {
  auto f = [](const Tensor& a) {
    return std::tuple(full({2, 3}, 7), arange(0, 5), full({}, 2) * 3, a, zeros({0, 2}),
                      expand(full({1}, 1, DType::f16) + 1, {4}));
  };
  const auto [sevens, count, six, same, none, twos] = compile(f)(counting_tensor({2}));
  EXPECT_TRUE(matches(sevens, {2, 3}, DType::f32, std::vector<Real>(6, 7)));
  EXPECT_TRUE(matches(count, {5}, DType::i64, {0, 1, 2, 3, 4}));
  EXPECT_TRUE(matches(six, {}, DType::f32, {6}));
  EXPECT_TRUE(matches(same, {0, 1}));
  EXPECT_EQ(none.shape(), (Shape{0, 2}));
  EXPECT_TRUE(matches(twos, {4}, DType::f16, {2, 2, 2, 2}));
}

TEST(CompiledResults, OutliveTheFunctionAndItsInputs) {
  std::optional<Tensor> result;
  {
    const Tensor x = counting_tensor({1000});
    const auto f = compile([](const Tensor& a) { return a + 1; });
    result = f(x);
  }
  EXPECT_EQ(values_of(*result)[999], 1000);
}

// --- captured tensors and nested functions ------------------------------------------------------

TEST(CapturedTensors, AreReadWhenCalled) {
  const Tensor weight = counting_tensor({3});
  const Tensor turned = transpose(counting_tensor({3, 2}), 0, 1);
  const auto f = compile([weight, turned](const Tensor& x) {
    return std::tuple(x * weight + weight, turned + x, weight, slice(turned, 0, 1, 2));
  });
  for (int call = 0; call < 2; ++call) {
    const auto [product, sum, same, row] = f(full({3}, 2 + call));
    const Real k = 2 + call;
    EXPECT_TRUE(matches(product, {0, k + 1, 2 * k + 2}));
    EXPECT_TRUE(matches(sum, {2, 3}, DType::f32, {k, k + 2, k + 4, k + 1, k + 3, k + 5}));
    EXPECT_EQ(same.data(), weight.data());
    EXPECT_TRUE(matches(row, {1, 3}, DType::f32, {1, 3, 5}));
  }
}

TEST(CapturedTensors, MayBeInputsToo) {
  const Tensor x = counting_tensor({4});
  const auto f = compile([x](const Tensor& a) { return a + x; });
  EXPECT_TRUE(matches(f(x), {0, 2, 4, 6}));
  EXPECT_TRUE(matches(f(slice(counting_tensor({8}), 0, 4, 8)), {4, 6, 8, 10}));
}

TEST(NestedFunctions, AreInlined) {
  const auto inner = compile([](const Tensor& a) { return std::pair(a * 2, a + 1); });
  const auto outer = compile([inner](const Tensor& a) {
    const auto [twice, more] = inner(a);
    return inner(twice - more).first;
  });
  const Tensor x = counting_tensor({100});
  std::vector<Real> want = values_of(x);
  for (Real& value : want) value = 2 * (2 * value - (value + 1));
  EXPECT_TRUE(matches(outer(x), want));
  EXPECT_EQ(outer.info(std::array{x}).kernels, 1);
  EXPECT_TRUE(matches(inner(x).first, values_of(x * 2)));  // still works on its own
}

TEST(Tracing, HappensOnceForASignature) {
  int traces = 0;
  const auto f = compile([&](const Tensor& a) {
    ++traces;
    return a + 1;
  });
  const Tensor x = counting_tensor({6, 4});
  f(x);
  f(x + 1);
  f(slice(counting_tensor({7, 4}), 0, 1, 7));  // the same shape and strides elsewhere
  EXPECT_EQ(traces, 1);
  f(transpose(counting_tensor({4, 6}), 0, 1));  // other strides
  f(cast(x, DType::f64));                       // another dtype
  f(counting_tensor({4, 6}));                   // another shape
  EXPECT_EQ(traces, 4);
  f(x);
  EXPECT_EQ(traces, 4);
}

TEST(Tracing, GoesOnAfterAnError) {
  bool fails = true;
  const auto f = compile([&](const Tensor& a) {
    if (fails) throw std::runtime_error("not yet");
    return a + 1;
  });
  const Tensor x = counting_tensor({3});
  EXPECT_THROW(f(x), std::runtime_error);
  EXPECT_TRUE(matches(x + 1, {1, 2, 3}));  // not recorded by the trace that failed
  fails = false;
  EXPECT_TRUE(matches(f(x), {1, 2, 3}));
}

TEST(Tracing, ReadsHostDataOfConcreteTensors) {
  const Tensor scale = full({1}, 3);
  const Tensor turned = transpose(counting_tensor({2, 2}), 0, 1);
  const auto f = compile([&](const Tensor& a) {
    return a * scale.item() + static_cast<double>(turned.to_vector<float>()[1]);
  });
  EXPECT_TRUE(matches(f(counting_tensor({3})), {2, 5, 8}));
}

// --- shapes and fusion --------------------------------------------------------------------------

TEST(ManyShapes, ThroughOneFunction) {
  const auto f = compile([](const Tensor& x) {
    const Tensor y = x * 2 + 1;
    return std::pair(y, sum(y, -1));
  });
  for (std::int64_t i = 1; i <= 50; ++i) {
    const Tensor x = counting_tensor({i % 7 + 1, i * i % 90 + 1}, DType::f64);
    const auto [values, sums] = f(x);
    std::vector<Real> want = values_of(x);
    std::vector<Real> totals(static_cast<std::size_t>(x.size(0)), 0);
    for (std::size_t k = 0; k < want.size(); ++k) {
      want[k] = 2 * want[k] + 1;
      totals[k / static_cast<std::size_t>(x.size(1))] += want[k];
    }
    EXPECT_TRUE(matches(values, x.shape(), DType::f64, want));
    EXPECT_TRUE(matches(sums, {x.size(0)}, DType::f64, totals));
  }
}

using Function = std::function<Tensor(const Tensor&, const Tensor&)>;

const std::pair<const char*, Function> kFunctions[] = {
    {"pointwise chain",
     [](const Tensor& a, const Tensor& b) { return tanh(a * b + 1) * sigmoid(a - b); }},
    {"softmax of scores", [](const Tensor& a, const Tensor& b) { return softmax(a * 0.5 + b); }},
    {"norm and activation",
     [](const Tensor& a, const Tensor& b) { return gelu(layer_norm(a) + b); }},
    {"reduce, then use", [](const Tensor& a, const Tensor& b) { return a - mean(b, 0, true); }},
    {"two reductions", [](const Tensor& a, const Tensor& b) { return sum(a * b, 1) / sum(b, 1); }},
    {"both directions",
     [](const Tensor& a, const Tensor& b) { return a / sum(a, 0, true) + b / sum(b, 1, true); }},
    {"transposed",
     [](const Tensor& a, const Tensor& b) { return exp(transpose(a, 0, 1)) + transpose(b, 0, 1); }},
    {"joined",
     [](const Tensor& a, const Tensor& b) {
       return concat({a + 1, b * 2}, 1) - 0.5;
     }},
    {"positions",
     [](const Tensor& a, const Tensor& b) {
       return where(cast(arange(0, a.size(1)), DType::f32) < a + b, a, b);
     }},
};

TEST(Fusion, ChangesNothing) {
  for (DType dtype : {DType::f32, DType::f64})
    for (const auto& [name, function] : kFunctions) {
      const Tensor a = random_tensor(dtype, {23, 41}, 1, 0.5L, 3);
      const Tensor b = random_tensor(dtype, {23, 41}, 2, 0.5L, 3);
      const Tensor fused = compile(function)(a, b);
      const auto alone = compile(function, {.fuse = false});
      const Tolerance few{16, 16 * epsilon_of(dtype)};
      EXPECT_TRUE(matches(fused, values_of(alone(a, b)), few)) << name << " " << name_of(dtype);
      EXPECT_TRUE(matches(fused, values_of(function(a, b)), few)) << name << " run eagerly";
      EXPECT_GE(alone.info(std::array{a, b}).kernels,
                compile(function).info(std::array{a, b}).kernels);
    }
}

TEST(Fusion, MakesOneKernelOfAChain) {
  const Tensor x = random_tensor(DType::f32, {64, 64});
  const std::array inputs{x};
  auto f = [](const Tensor& a) { return softmax(tanh(a * 2 + 1)); };
  const ProgramInfo fused = compile(f).info(inputs);
  const ProgramInfo alone = compile(f, {.fuse = false}).info(inputs);
  EXPECT_EQ(fused.kernels, 1);
  EXPECT_EQ(fused.bytes, 2 * 64 * 64 * 4);
  EXPECT_EQ(fused.buffer_bytes, 0);
  EXPECT_GT(fused.flops, 64 * 64);
  EXPECT_GT(fused.compile_ms, 0);
  EXPECT_GT(fused.predicted_us, 0);
  EXPECT_GE(alone.kernels, 7);
  EXPECT_GT(alone.bytes, fused.bytes);
  EXPECT_GT(alone.buffer_bytes, 0);
}

TEST(Fusion, FreesIntermediates) {
  const Tensor x = random_tensor(DType::f32, {256, 256});
  const auto f = compile([](const Tensor& a) { return softmax(a * 2); }, {.fuse = false});
  f(x);
  const std::size_t before = device_memory().in_use;
  const Tensor y = f(x);
  EXPECT_LE(device_memory().in_use, before + (std::size_t{256} * 256 * 4 * 5 / 4));
}

// --- threads ------------------------------------------------------------------------------------

// Compiling races with running: the first calls of all threads start together.
TEST(Threads, CallOneFunction) {
  const auto f = compile([](const Tensor& x) {
    const Tensor y = exp(x * 0.125);
    return std::pair(y, sum(y, 1));
  });
  const std::vector<Shape> shapes{{3, 5}, {16, 16}, {1, 1000}, {70, 33}, {2, 4097}};
  std::vector<Tensor> inputs;
  for (const Shape& shape : shapes) inputs.push_back(random_tensor(DType::f32, shape));
  std::atomic<int> wrong = 0;
  std::vector<std::vector<Real>> want;
  for (const Tensor& x : inputs) {
    want.emplace_back();
    for (Real value : values_of(x)) want.back().push_back(std::exp(value / 8));
  }
  auto work = [&](std::size_t thread) {
    for (std::size_t call = 0; call < 200; ++call) {
      const std::size_t which = (thread + call) % shapes.size();
      const auto [values, sums] = f(inputs[which]);
      // Values are compared on some calls only, to keep 1600 of them short.
      if (call % 10 == 0 && !matches(values, shapes[which], DType::f32, want[which], {4})) ++wrong;
      if (sums.shape() != Shape{shapes[which][0]}) ++wrong;
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 8; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, TraceDifferentFunctionsAtOnce) {
  std::atomic<int> wrong = 0;
  auto work = [&](int thread) {
    for (int call = 0; call < 25; ++call) {
      const double k = thread * 100 + call;
      const auto f = compile([k](const Tensor& x) { return x * 2 + k; });
      const Tensor x = counting_tensor({17});
      if (values_of(f(x))[16] != static_cast<Real>(32 + k)) ++wrong;
      if (values_of(x + k)[1] != static_cast<Real>(1 + k)) ++wrong;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// --- reports ------------------------------------------------------------------------------------

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Explain, NamesGroupsBytesAndReasons) {
  const Tensor x = random_tensor(DType::f32, {128, 100});
  const auto fused = compile([](const Tensor& a) { return softmax(a * 2); }, {.name = "scores"});
  EXPECT_EQ(fused.explain(), "not compiled yet: call the function, or give explain() its inputs\n");
  const std::string one = fused.explain(std::array{x});
  for (const char* part :
       {"scores\n", "1 kernel,", "group 0", "over (128, 100)", "mul", "max", "exp", "sum",
        "reads 51.2 kB, writes 51.2 kB", "predicted", "every edge is fused"})
    EXPECT_TRUE(contains(one, part)) << part << " is not in\n" << one;
  fused(x);
  EXPECT_EQ(fused.explain(), one);

  const auto split = compile([](const Tensor& a) {
    const Tensor y = exp(a);
    return y / sum(y, 0, true) + y / sum(y, 1, true);
  });
  const std::string several = split.explain(std::array{x});
  for (const char* part : {"kernels,", "group 1", "not fused:", "->", "costs"})
    EXPECT_TRUE(contains(several, part)) << part << " is not in\n" << several;

  const auto off = compile([](const Tensor& a) { return exp(a) + 1; }, {.fuse = false});
  EXPECT_TRUE(contains(off.explain(std::array{x}), "fusion is off"));
}

TEST(Explain, SaysWhichOperationsOfTheProgramAKernelComputes) {
  const Tensor x = random_tensor(DType::f32, {128, 100});
  const auto layer = compile([](const Tensor& a) {
    const NameScope scope("encoder");
    Tensor y;
    {
      const NameScope inner("scores");
      y = softmax(a * 2);
    }
    return layer_norm(y, {}, {}, 1e-5);
  });
  const std::string text = layer.explain(std::array{x});
  EXPECT_TRUE(contains(text,
                       "from  encoder/scores/mul, encoder/scores/softmax, "
                       "encoder/layer_norm\n"))
      << text;
  const auto plain = compile([](const Tensor& a) { return exp(a) + 1; });
  EXPECT_FALSE(contains(plain.explain(std::array{x}), "from  ")) << "the nodes say it all";
}

TEST(Explain, AFunctionInsideAnotherIsAScope) {
  const Tensor x = random_tensor(DType::f32, {128, 100});
  const auto inner = compile([](const Tensor& a) { return softmax(a); }, {.name = "attention"});
  const auto outer = compile([&](const Tensor& a) { return inner(a) * 2; });
  EXPECT_TRUE(contains(outer.explain(std::array{x}), "attention/softmax"));
}

TEST(Dump, HasEveryStage) {
  const Tensor x = random_tensor(DType::f32, {12, 34});
  const auto f = compile([](const Tensor& a) { return softmax(a * 2); });
  const std::pair<const char*, const char*> expected[] = {
      {"graph", "exp"},           {"simplified", "exp"},          {"plan", "group 0"},
      {"kernels", "in in0 = %0"}, {"launches", "arena: 0 bytes"}, {"tile", "reduce"},
      {"source", "extern \"C\""}};
  for (const auto& [stage, part] : expected) {
    const std::string text = f.dump(stage, std::array{x});
    EXPECT_TRUE(contains(text, part)) << stage << ":\n" << text;
  }
}

}  // namespace
}  // namespace sinter::testing
