// call_into(): results in memory that the caller gives, against the results of plain calls. On
// every available device.
#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include <thread>

#include "tests/support/errors.h"
#include "tests/support/gpu.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

class CallInto : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (device() != "cpu") SINTER_NEEDS_DEVICE(device());
  }
  static std::string device() { return GetParam(); }
  static Tensor random(const Shape& shape, unsigned seed = 1, DType dtype = DType::f32) {
    return random_tensor(dtype, shape, seed).to(device());
  }
  static Tensor filled(const Shape& shape, double value = -7, DType dtype = DType::f32) {
    return full(shape, value, dtype).to(device());
  }

  // Peak device memory that `run` allocates, in bytes.
  template <typename F>
  static std::size_t memory_taken(F&& run) {
    run();
    reset_peak_memory(device());
    const std::size_t before = device_memory(device()).in_use;
    run();
    return device_memory(device()).peak - before;
  }
};

std::string name_of_device(const ::testing::TestParamInfo<const char*>& info) {
  const std::string device = info.param;
  return device == "cpu" ? "Cpu" : device == "simt" ? "Simt" : "Gpu";
}

INSTANTIATE_TEST_SUITE_P(Devices, CallInto, ::testing::Values("cpu", "simt", "cuda"),
                         name_of_device);

::testing::AssertionResult same(const Tensor& got, const Tensor& want) {
  // Kernels with other output layouts may sum in another order.
  return matches(got.to("cpu"), want.shape(), want.dtype(), values_of(want.to("cpu")), {16, 1e-5L});
}

// A copy on the host: x * 1 would be x itself.
Tensor snapshot(const Tensor& t) { return tensor_of(t.dtype(), t.shape(), values_of(t.to("cpu"))); }

Tensor squeeze_last(const Tensor& t) { return squeeze(t, t.rank() - 1); }

// --- where results go ----------------------------------------------------------------------------

TEST_P(CallInto, DenseOutputsTakeNoMemory) {
  const auto f = compile([](const Tensor& a, const Tensor& b) { return exp(a) + b; });
  const Tensor x = random({33, 70});
  const Tensor y = random({33, 70}, 2);
  const Tensor out = filled({33, 70});
  const void* data = out.data();
  EXPECT_EQ(memory_taken([&] { f.call_into(out, x, y); }), 0u);
  EXPECT_TRUE(same(out, f(x, y)));
  EXPECT_EQ(out.data(), data);
}

TEST_P(CallInto, SeveralResultsOfEveryForm) {
  const Tensor x = random({6, 40});
  const Tensor a = filled({6, 40});
  const Tensor b = filled({6});
  const auto two = [](const Tensor& t) { return std::pair(t * 2, sum(t, {1})); };
  const auto f = compile(two);
  EXPECT_EQ(memory_taken([&] { f.call_into({a, b}, x); }), 0u);
  const auto [want_a, want_b] = f(x);
  EXPECT_TRUE(same(a, want_a));
  EXPECT_TRUE(same(b, want_b));

  const auto tuple = compile([](const Tensor& t) { return std::tuple(t + 1); });
  tuple.call_into({a}, x);
  EXPECT_TRUE(same(a, std::get<0>(tuple(x))));
  const auto array = compile([](const Tensor& t) { return std::array<Tensor, 1>{t + 2}; });
  array.call_into({a}, x);
  EXPECT_TRUE(same(a, array(x)[0]));
  const auto list =
      compile_list([](std::span<const Tensor> t) { return std::vector<Tensor>{t[0] + t[1]}; }, 2);
  list.call_into(std::vector{a}, std::vector{x, x});
  EXPECT_TRUE(same(a, list.call(std::vector{x, x})[0]));
  const auto nothing = compile([d = device()] { return full({6, 40}, 2, DType::f32, d) * 3; });
  nothing.call_into(a);
  EXPECT_TRUE(same(a, filled({6, 40}, 6)));
}

// Functions with results from every kind of kernel.
std::vector<std::pair<std::string, CompiledFunction>> functions(const CompileOptions& options) {
  const auto one = [&](const char* name, Tensor (*f)(const Tensor&)) {
    return std::pair<std::string, CompiledFunction>(
        name, compile_list([f](std::span<const Tensor> t) { return std::vector<Tensor>{f(t[0])}; },
                           1, options));
  };
  return {
      one("pointwise", [](const Tensor& t) { return exp(t) * 2 + 1; }),
      one("row", [](const Tensor& t) { return softmax(t, -1); }),
      one("column", [](const Tensor& t) { return t - mean(t, {0}, true); }),
      one("transposed", [](const Tensor& t) { return transpose(exp(transpose(t, 0, 1)), 0, 1); }),
      one("reshaped", [](const Tensor& t) { return reshape(tanh(reshape(t, {-1})), t.shape()); }),
      one("concat",
          [](const Tensor& t) {
            return concat({slice(t, 1, 0, 1) * 2, slice(t, 1, 1, t.size(1)) + 1}, 1);
          }),
      one("matmul", [](const Tensor& t) { return matmul(t, matmul(transpose(t, 0, 1), t)); }),
      one("copy", [](const Tensor& t) { return flip(t); }),
      one("input", [](const Tensor& t) { return t; }),
      one("broadcast", [](const Tensor& t) { return expand(exp(slice(t, 0, 0, 1)), t.shape()); }),
      one("part", [](const Tensor& t) {
        return slice(concat({t, exp(t)}, 0), 0, 1, 1 + t.size(0));
      })};
}

TEST_P(CallInto, StridedOutputsAndNothingElse) {
  for (bool fuse : {true, false})
    for (const auto& [name, f] : functions({.fuse = fuse})) {
      SCOPED_TRACE(name + (fuse ? "" : " unfused"));
      const Tensor x = random({5, 12});
      const Tensor want = f.call(std::vector{x})[0].to("cpu");
      const auto check = [&](const Shape& whole, const std::function<Tensor(const Tensor&)>& part) {
        const Tensor memory = filled(whole);
        f.call_into(std::vector{part(memory)}, std::vector{x});
        EXPECT_TRUE(same(part(memory), want));
        Real rest = 0;
        for (Real value : values_of(memory.to("cpu"))) rest += value == -7 ? 1 : 0;
        EXPECT_EQ(rest, static_cast<Real>(memory.numel() - want.numel())) << "untouched elements";
      };
      check({5, 12}, [](const Tensor& t) { return t; });
      check({3, 5, 12}, [](const Tensor& t) { return t[1]; });
      check({5, 20}, [](const Tensor& t) { return slice(t, 1, 3, 15); });
      check({12, 5}, [](const Tensor& t) { return transpose(t, 0, 1); });
      check({11, 24}, [](const Tensor& t) { return slice(slice(t, 0, 1, 11, 2), 1, 0, 24, 2); });
      check({12, 3, 5}, [](const Tensor& t) { return transpose(transpose(t, 0, 1)[1], 0, 1); });
    }
}

TEST_P(CallInto, StridedOutputsOfOneKernelTakeNoMemory) {
  const auto f = compile([](const Tensor& t) { return std::pair(softmax(t, -1), sum(t, {1})); });
  const Tensor x = random({8, 64});
  const Tensor batch = filled({3, 8, 100});
  const Tensor sums = filled({8, 3});
  const std::pair<Tensor, Tensor> outputs{slice(batch[2], 1, 10, 74), transpose(sums, 0, 1)[1]};
  EXPECT_EQ(memory_taken([&] { f.call_into(outputs, x); }), 0u);
  EXPECT_TRUE(same(outputs.first, f(x).first));
  EXPECT_TRUE(same(outputs.second, f(x).second));
}

TEST_P(CallInto, ResultsThatShareMemoryOrAreInputs) {
  const auto body = [](const Tensor& t) {
    const Tensor y = exp(t);
    return std::vector<Tensor>{y,
                               y,
                               transpose(y, 0, 1),
                               slice(y, 0, 1, 3),
                               t,
                               transpose(t, 0, 1),
                               concat({y, t}, 0),
                               expand(slice(y, 0, 0, 1), t.shape()),
                               full({2, 2}, 3),
                               sum(y)};
  };
  for (bool fuse : {true, false}) {
    const auto f = compile(body, {.fuse = fuse});
    const Tensor x = random({4, 7});
    const std::vector<Tensor> want = f(x);
    std::vector<Tensor> dense;
    std::vector<Tensor> strided;
    for (const Tensor& result : want) {
      dense.push_back(filled(result.shape()));
      Shape wide = result.shape();
      wide.push_back(2);
      const Tensor memory = filled(wide);
      strided.push_back(squeeze_last(slice(memory, wide.rank() - 1, 0, 1)));
    }
    for (const std::vector<Tensor>& outputs : {dense, strided}) {
      f.call_into(outputs, x);
      for (std::size_t i = 0; i < want.size(); ++i) EXPECT_TRUE(same(outputs[i], want[i])) << i;
    }
  }
}

TEST_P(CallInto, EveryDType) {
  for (DType dtype :
       {DType::f16, DType::bf16, DType::f32, DType::f64, DType::i32, DType::i64, DType::boolean}) {
    const auto f = compile([](const Tensor& t) { return where(t > 0, t, t); });
    const Tensor x = random({9, 5}, 3, dtype);
    const Tensor memory = full({5, 9}, 1, dtype).to(device());
    f.call_into(transpose(memory, 0, 1), x);
    EXPECT_TRUE(same(transpose(memory, 0, 1), x)) << name_of(dtype);
  }
}

TEST_P(CallInto, EmptyAndSingleElements) {
  const auto f = compile([](const Tensor& t) { return std::pair(t + 1, sum(t)); });
  const Tensor empty = filled({0, 3});
  const Tensor total = filled({});
  f.call_into({filled({0, 3}), total}, empty);
  EXPECT_EQ(total.to("cpu").item(), 0);
  f.call_into({filled({1, 1}), total}, filled({1, 1}, 5));
  EXPECT_EQ(total.to("cpu").item(), 5);
  f.call_into({filled({3, 0}), total}, filled({3, 0}));  // empty outputs and inputs
  EXPECT_EQ(total.to("cpu").item(), 0);
}

// --- outputs that share memory with inputs -------------------------------------------------------

TEST_P(CallInto, AnOptimizerStepUpdatesInPlace) {
  const auto step = [](const Tensor& p, const Tensor& m, const Tensor& v, const Tensor& g,
                       const Number& rate) {
    const Tensor m1 = m * 0.9 + g * 0.1;
    const Tensor v1 = v * 0.99 + g * g * 0.01;
    return std::tuple(p - rate * m1 / (sqrt(v1) + 1e-8), m1, v1);
  };
  const auto f = compile(step);
  for (const Shape& shape : {Shape{1000}, Shape{7, 9}, Shape{300, 40}}) {
    const Tensor p = random(shape, 1), m = random(shape, 2), g = random(shape, 3);
    const Tensor v = (random(shape, 4) * random(shape, 4)).to(device());
    for (double rate : {0.1, 0.2}) {
      const auto [p1, m1, v1] = f(p, m, v, g, rate);
      f.call_into({p, m, v}, p, m, v, g, rate);
      EXPECT_TRUE(same(p, p1));
      EXPECT_TRUE(same(m, m1));
      EXPECT_TRUE(same(v, v1));
    }
    EXPECT_EQ(memory_taken([&] { f.call_into({p, m, v}, p, m, v, g, 0.1); }), 0u);
  }
  // Part of a larger tensor.
  const Tensor all = random({20, 30});
  const Tensor part = slice(all, 1, 4, 20);
  const auto next = compile([](const Tensor& t) { return tanh(t) + 1; });
  const Tensor want = next(part);
  next.call_into(part, part);
  EXPECT_TRUE(same(part, want));
  EXPECT_EQ(memory_taken([&] { next.call_into(part, part); }), 0u);
}

TEST_P(CallInto, OverlapsNeverChangeResults) {
  for (const auto& [name, f] : functions({})) {
    SCOPED_TRACE(name);
    const auto check = [&](const Tensor& input, const Tensor& output) {
      const Tensor want = snapshot(f.call(std::vector{input})[0]);
      f.call_into(std::vector{output}, std::vector{input});
      EXPECT_TRUE(same(output, want));
    };
    const Tensor x = random({8, 8});
    check(x, x);
    const Tensor y = random({8, 8});
    check(y, transpose(y, 0, 1));
    const Tensor z = random({12, 9});
    check(slice(z, 0, 0, 9), slice(z, 0, 1, 10));
    check(slice(z, 0, 2, 11), slice(z, 0, 0, 9));
    check(slice(slice(z, 0, 0, 4), 1, 0, 4), slice(slice(z, 0, 0, 8, 2), 1, 0, 8, 2));
  }
}

TEST_P(CallInto, EmptyPartsOfAConcat) {
  const auto f = compile([](const Tensor& x) {
    return concat({slice(x, 2, 0, 0), x, slice(x, 2, 1, 1)}, 2);
  });
  const Tensor x = random({64, 16, 1, 1});
  for (const Tensor& wide : {random({64, 16, 1, 2}), random({70, 16, 1, 2})}) {
    const Tensor y = slice(slice(wide, 3, 0, 1), 0, 0, 64);
    f.call_into(y, x);
    EXPECT_TRUE(same(y, x));
  }
}

// A program that cannot run in place is tried and kept, but never runs.
TEST_P(CallInto, ExplainShowsTheProgramThatRuns) {
  const auto f = compile([](const Tensor& x) { return transpose(x, 0, 1) + 1; });
  const Tensor x = random({8, 8});
  f(x);
  const std::string before = f.explain();
  f.call_into(x, x);
  EXPECT_EQ(f.explain(), before);
}

TEST_P(CallInto, OverlapsOfSeveralTensors) {
  const auto twice = [](const Tensor& a, const Tensor& b) { return std::pair(b * 2, a * 3); };
  const auto swap = [](const Tensor& a, const Tensor& b) { return std::pair(b, a); };
  const auto kept = [](const Tensor& a, const Tensor& b) { return std::pair(a + b, a); };
  const auto means = [](const Tensor& a, const Tensor& b) {
    return std::pair(a - mean(b), b - mean(a));
  };
  const auto both = [](const Tensor& a, const Tensor& b) {
    return std::pair(a * 2 + b, b * 2 + transpose(a, 0, 1));
  };
  const auto check = [&](const auto& f) {
    const Tensor a = random({16, 16}, 1), b = random({16, 16}, 2);
    const auto [first, second] = f(a, b);
    const Tensor want_first = snapshot(first), want_second = snapshot(second);
    f.call_into({a, b}, a, b);
    EXPECT_TRUE(same(a, want_first));
    EXPECT_TRUE(same(b, want_second));
    const auto [same_first, same_second] = f(a, a);
    const Tensor want_a = snapshot(same_first), want_b = snapshot(same_second);
    f.call_into({a, b}, a, a);
    EXPECT_TRUE(same(a, want_a));
    EXPECT_TRUE(same(b, want_b));
  };
  for (bool fuse : {true, false}) {
    check(compile(twice, {.fuse = fuse}));
    check(compile(swap, {.fuse = fuse}));
    check(compile(kept, {.fuse = fuse}));
    check(compile(means, {.fuse = fuse}));
    check(compile(both, {.fuse = fuse}));
  }
}

TEST_P(CallInto, OverlapsOfCapturedTensors) {
  const Tensor weights = random({6, 6});
  const auto f = compile([&](const Tensor& t) { return t + transpose(weights, 0, 1); });
  const Tensor x = random({6, 6}, 2);
  const Tensor want = snapshot(f(x));
  f.call_into(weights, x);
  EXPECT_TRUE(same(weights, want));
  const Tensor next = snapshot(f(x));  // with the new weights
  f.call_into(weights, x);
  EXPECT_TRUE(same(weights, next));
}

// --- options, numbers, threads -------------------------------------------------------------------

TEST_P(CallInto, GraphsAndNumbers) {
  const auto body = [](const Tensor& t, const Number& scale) {
    const Tensor y = t * scale;
    return std::pair(y - mean(y), softmax(y, 0));
  };
  const auto f = compile(body, {.fuse = false, .cuda_graph = true});
  const Tensor x = random({10, 6});
  const Tensor memory = filled({2, 6, 10});
  for (double scale : {1.0, 2.5, -1.0}) {
    const auto [want_first, want_second] = f(x, scale);
    const std::pair<Tensor, Tensor> dense{filled({10, 6}), filled({10, 6})};
    f.call_into(dense, x, scale);
    EXPECT_TRUE(same(dense.first, want_first));
    EXPECT_TRUE(same(dense.second, want_second));
    f.call_into({transpose(memory[0], 0, 1), transpose(memory[1], 0, 1)}, x, scale);
    EXPECT_TRUE(same(transpose(memory[0], 0, 1), want_first));
    EXPECT_TRUE(same(transpose(memory[1], 0, 1), want_second));
  }
}

TEST_P(CallInto, ManyThreads) {
  const auto f = compile([](const Tensor& t) { return std::pair(exp(t), softmax(t, -1)); });
  const Tensor memory = filled({4, 2, 12, 16});
  std::vector<Tensor> inputs;
  for (unsigned i = 0; i < 4; ++i) inputs.push_back(random({12, 8}, i));
  std::vector<std::thread> threads;
  for (std::int64_t i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 20; ++k)
        f.call_into({slice(memory[i][0], 1, 0, 8), slice(memory[i][1], 1, 8, 16)},
                    inputs[static_cast<std::size_t>(i)]);
      synchronize(device());
    });
  for (std::thread& thread : threads) thread.join();
  for (std::int64_t i = 0; i < 4; ++i) {
    const auto [first, second] = f(inputs[static_cast<std::size_t>(i)]);
    EXPECT_TRUE(same(slice(memory[i][0], 1, 0, 8), first));
    EXPECT_TRUE(same(slice(memory[i][1], 1, 8, 16), second));
  }
}

// --- mistakes ------------------------------------------------------------------------------------

TEST(CallIntoErrors, NameTheOutputAndBothSides) {
  const auto f = compile([](const Tensor& t) { return std::vector<Tensor>{t + 1, sum(t, {1})}; });
  const Tensor x = ones({3, 4});
  const Tensor a = full({3, 4}, -7);
  const Tensor b = full({3}, -7);
  const auto into = [&](const std::vector<Tensor>& outputs) { f.call_into(outputs, x); };
  EXPECT_USER_ERROR(into({a}), "[call_into] the function returns 2 tensors, got 1 outputs");
  EXPECT_USER_ERROR(into({a, Tensor()}),
                    "[call_into] output 1 is undefined (a default-constructed Tensor)");
  EXPECT_USER_ERROR(into({a, a}), "[call_into] output 0 and output 1 overlap in memory");
  EXPECT_USER_ERROR(into({a, full({4}, 0)}),
                    "[call_into] output 1 is f32(4), the function returns f32(3)");
  EXPECT_USER_ERROR(into({transpose(full({3, 4}, 0), 0, 1), b}),
                    "[call_into] output 0 is f32(4, 3), the function returns f32(3, 4)");
  EXPECT_USER_ERROR(into({full({3, 4}, 0, DType::f64), b}),
                    "[call_into] output 0 is f64(3, 4), the function returns f32(3, 4)");
  EXPECT_USER_ERROR(into({expand(full({3, 1}, 0), {3, 4}), b}),
                    "[call_into] output 0 of shape (3, 4) and strides (1, 0) has elements that "
                    "share memory");
  EXPECT_USER_ERROR(f.call_into(std::vector{a, b}, Tensor()),
                    "[compile] input 0 is undefined (a default-constructed Tensor)");
  EXPECT_USER_ERROR(
      compile([&](const Tensor& t) {
        const auto g = compile([](const Tensor& u) { return u + 1; });
        g.call_into(a, t);
        return t;
      })(x),
      "[call_into] cannot be traced: inside a compiled function, call the function and "
      "return its result; while tracing an unnamed function of 1 tensor with input "
      "f32(3, 4)");
  for (const Tensor& output : {a, b})
    for (Real value : values_of(output)) EXPECT_EQ(value, -7) << "nothing is written";
  into({a, b});  // usable afterwards
  EXPECT_TRUE(matches(b, {4, 4, 4}));
}

TEST(CallIntoErrors, NameBothDevicesOnSimt) {
  SINTER_NEEDS_DEVICE("simt");
  const auto f = compile([](const Tensor& t) { return t + 1; });
  EXPECT_USER_ERROR(f.call_into(zeros({3}), zeros({3}, DType::f32, "simt")),
                    "[call_into] output 0 is on cpu, the function runs on simt");
  EXPECT_USER_ERROR(f.call_into(zeros({3, 2})[0], zeros({2}, DType::f32, "simt")),
                    "[call_into] output 0 is on cpu, the function runs on simt");
  EXPECT_USER_ERROR(f.call_into(transpose(zeros({3, 2}), 0, 1), zeros({2, 3}, DType::f32, "simt")),
                    "[call_into] output 0 is on cpu, the function runs on simt");
}

}  // namespace
}  // namespace sinter::testing
