// Numbers that each call gives: the bits of a captured constant of the same value, and nothing
// compiled for another value.
#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/errors.h"
#include "tests/support/gpu.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<std::byte> bytes_of(const Tensor& x) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(x.numel()) * size_of(x.dtype()));
  x.copy_to(bytes.data());
  return bytes;
}

Tensor ramp(DType dtype, const std::string& device = "cpu") {
  const Tensor x = arange(-60, 60, 1) / 7.0;
  return cast(reshape(x, {8, 15}), dtype).to(device);
}

// The number of times a function was traced.
struct Counted {
  std::shared_ptr<int> traces = std::make_shared<int>(0);
};

using Body = std::function<Tensor(const Tensor&, const Tensor&, const Number&)>;

struct Program {
  const char* name;
  Body body;
};

const Program kPrograms[] = {
    {"step", [](const Tensor& x, const Tensor& y, const Number& a) { return x - a * y; }},
    {"decay",
     [](const Tensor& x, const Tensor& y, const Number& a) { return a * x + (1 - a) * y; }},
    {"product", [](const Tensor& x, const Tensor& y, const Number& a) { return x * y * a + x; }},
    {"quotient", [](const Tensor& x, const Tensor& y, const Number& a) { return x / a + y; }},
    {"compare",
     [](const Tensor& x, const Tensor& y, const Number& a) { return where(x < a, x, y); }},
    {"clamp", [](const Tensor& x, const Tensor& y, const Number& a) { return clamp(x, a, y); }},
    {"power", [](const Tensor& x, const Tensor& y, const Number& a) { return pow(abs(x), a) + y; }},
    {"base", [](const Tensor& x, const Tensor& y, const Number& a) { return pow(a, x) + y; }},
    {"sum",
     [](const Tensor& x, const Tensor& y, const Number& a) { return sum(x * a, 1) + sum(y); }},
    {"mask", [](const Tensor& x, const Tensor& y,
                const Number& a) { return where(arange(0, 15) < a, x, y); }},
    {"filled", [](const Tensor& x, const Tensor& y,
                  const Number& a) { return x * exp(full({}, a) * 0.5) + y; }},
    {"tanh",
     [](const Tensor& x, const Tensor& y, const Number& a) { return a * x * (a + tanh(a * y)); }},
    {"factors", [](const Tensor& x, const Tensor& y,
                   const Number& a) { return x * a - x * 0.1 + y * a - y * (a * 1.0); }},
    {"factors of two numbers",
     [](const Tensor& x, const Tensor& y, const Number& a) { return x * a - x * abs(a) + y; }},
    {"leaky",
     [](const Tensor& x, const Tensor& y, const Number& a) { return leaky_relu(x, a) + y; }},
};

template <typename T>
void expect_bits_of_constant(const Tensor& x, const Tensor& y, const std::vector<T>& values,
                             const CompileOptions& options = {}) {
  for (const Program& program : kPrograms) {
    const Body body = program.body;
    const auto given =
        compile([body](const Tensor& a, const Tensor& b, const Number& n) { return body(a, b, n); },
                options);
    for (const T value : values) {
      const auto captured = compile(
          [body, value](const Tensor& a, const Tensor& b) { return body(a, b, value); }, options);
      EXPECT_EQ(bytes_of(given(x, y, value)), bytes_of(captured(x, y)))
          << program.name << " " << name_of(x.dtype()) << " " << value;
    }
  }
}

const std::vector<double> kReals = {0.1, 1.0, -2.5, 0.5, 0.0, -0.0, 2.0, 1e300, 3e38, kInf, kNan};

TEST(CallNumbers, GiveTheBitsOfConstants) {
  for (DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64, DType::i32, DType::i64}) {
    expect_bits_of_constant(ramp(dtype), cast(ramp(DType::f32) * 1.7, dtype), kReals);
    expect_bits_of_constant<std::int64_t>(ramp(dtype), cast(ramp(DType::f32) * 1.7, dtype),
                                          {1, 2, 7, 0});
  }
}

TEST(CallNumbers, GiveTheBitsOfConstantsUnfusedAndEager) {
  for (DType dtype : {DType::f32, DType::bf16}) {
    const Tensor y = cast(ramp(DType::f32) * 1.7, dtype);
    expect_bits_of_constant<double>(ramp(dtype), y, {0.1, 1.0, kNan}, {.fuse = false});
    expect_bits_of_constant<double>(ramp(dtype), y, {0.1, 1.0, kNan},
                                    {.emulate_eager_rounding = true});
  }
}

class CallNumbersOn : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { SINTER_NEEDS_DEVICE(GetParam()); }

  static Tensor x(DType dtype) { return ramp(dtype, GetParam()); }
  static Tensor y(DType dtype) { return cast(ramp(DType::f32) * 1.7, dtype).to(GetParam()); }
};

TEST_P(CallNumbersOn, GiveTheBitsOfConstants) {
  for (DType dtype : {DType::f32, DType::f16, DType::i64})
    expect_bits_of_constant<double>(x(dtype), y(dtype), {0.1, 1.0});
}

// Each call patches the graph that the first one captured.
TEST_P(CallNumbersOn, GiveTheBitsOfConstantsInALaunchGraph) {
  for (const bool fuse : {true, false}) {
    const CompileOptions options{.fuse = fuse, .cuda_graph = true};
    expect_bits_of_constant<double>(x(DType::f32), y(DType::f32), {0.1, -2.5, 1e-40}, options);
    expect_bits_of_constant<std::int64_t>(x(DType::f32), y(DType::f32), {3, -4}, options);
  }
  const auto f = compile([](const Tensor& a, const Number& n) { return a * n + sum(a); },
                         {.cuda_graph = true});
  f(x(DType::f32), 0.5);
  const bool has_graphs = std::string(GetParam()) == "cuda";
  EXPECT_EQ(f.explain().find("launched as one CUDA graph") != std::string::npos, has_graphs);
}

INSTANTIATE_TEST_SUITE_P(Cpu, CallNumbersOn, ::testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Simt, CallNumbersOn, ::testing::Values("simt"));
INSTANTIATE_TEST_SUITE_P(Gpu, CallNumbersOn, ::testing::Values("cuda"));

TEST(CallNumbers, CompileNothingForAnotherValue) {
  const Tensor x = ramp(DType::f32);
  int traces = 0;
  const auto step = compile([&](const Tensor& w, const Tensor& g, const Number& lr) {
    ++traces;
    return w - lr * g;
  });
  step(x, x, 0.5);
  for (const double lr : kReals) step(x, x, lr);
  step(x, x, 0.25f);
  EXPECT_EQ(traces, 1);
  step(x, x, 3);
  EXPECT_EQ(traces, 2) << "the kind counts";
  step(x, x, 4);
  EXPECT_EQ(traces, 2);
}

// A program made for other numbers is not asked to compute with these.
TEST(CallNumbers, AreCheckedByTheProgramTheyAreFor) {
  const auto f = compile([](const Tensor& x, const Number& n, const Number& k) {
    return arange(0, n).size(0) > 4 ? x * k : x + 1;
  });
  const Tensor x = full({2}, 3, DType::i32);
  EXPECT_TRUE(matches(f(x, 10, 3), {9, 9}));
  EXPECT_TRUE(matches(f(x, 2, 5000000000), {4, 4}));
  EXPECT_TRUE(matches(f(x, 2, 5000000000), {4, 4}));
  EXPECT_THROW(f(x, 10, 5000000000), UserError);
}

TEST(CallNumbers, AreCompiledInAsExponents) {
  const Tensor x = ramp(DType::f32);
  int traces = 0;
  const auto power = compile([&](const Tensor& a, const Number& n) {
    ++traces;
    return pow(a, n);
  });
  EXPECT_EQ(bytes_of(power(x, 2.0)), bytes_of(x * x));
  EXPECT_EQ(bytes_of(power(x, 1.0)), bytes_of(x));
  EXPECT_EQ(bytes_of(power(x, 2.0)), bytes_of(x * x));
  EXPECT_EQ(traces, 2);
  power(x, kNan);
  power(x, kNan);
  EXPECT_EQ(traces, 3);
}

TEST(CallNumbers, AreCompiledInAsBoundsOfRanges) {
  const auto count =
      compile([](const Tensor& a, const Number& n) { return sum(arange(0, n)) + a; });
  EXPECT_TRUE(matches(count(zeros({1}, DType::i64), 4), {6}));
  EXPECT_TRUE(matches(count(zeros({1}, DType::i64), 5), {10}));
}

TEST(CallNumbers, ComputeAsCpp) {
  const Number a = 7;
  EXPECT_EQ((a / 2).integer(), 3);
  EXPECT_EQ((-a / 2).integer(), -3);
  EXPECT_EQ((a / 2.0).real(), 3.5);
  EXPECT_EQ((true + a).integer(), 8);
  EXPECT_EQ(pow(a, 2).kind(), NumberKind::real);
  EXPECT_EQ(sqrt(Number(2)).real(), std::sqrt(2.0));
  EXPECT_EQ((1 - exp(Number(-0.5))).real(), 1 - std::exp(-0.5));
  EXPECT_EQ(minimum(a, 3).integer(), 3);
  EXPECT_USER_ERROR(a / 0, "[number] an integer cannot be divided by 0");
  const auto average = compile([](const Tensor& x, const Number& n, const Number& k) {
    return x * (pow(n, k) / (1 - n)) + n / 3;
  });
  EXPECT_EQ(bytes_of(average(ramp(DType::f64), 0.9, 7)), bytes_of(compile([](const Tensor& x) {
              return x * (std::pow(0.9, 7) / (1 - 0.9)) + 0.9 / 3;
            })(ramp(DType::f64))));
}

TEST(CallNumbers, ThatDoNotFitAreErrorsOfTheCall) {
  const Tensor x = tensor_of(DType::i32, {2}, {1, 2});
  const auto scale = compile([](const Tensor& a, const Number& n) { return a * n; });
  EXPECT_TRUE(matches(scale(x, 3), {3, 6}));
  EXPECT_USER_ERROR(scale(x, 5000000000),
                    "[mul] 5000000000 does not fit i32, the type of the tensor; cast the tensor to "
                    "i64");
  EXPECT_USER_ERROR(scale(x, std::numeric_limits<std::uint64_t>::max()),
                    "[mul] 18446744073709551615 does not fit i32; cast the tensor to f64");
  EXPECT_TRUE(matches(scale(x, 4), {4, 8})) << "as before";
  const auto divide = compile([](const Tensor& a, const Number& n) { return floor_div(a, n); });
  EXPECT_TRUE(matches(divide(x, 2), {0, 1}));
  EXPECT_USER_ERROR(divide(x, 0),
                    "[floor_div] integers cannot be divided by 0; cast the tensor to a float");
  const auto fill =
      compile([](const Tensor& a, const Number& n) { return a + full({2}, n, DType::i32); });
  EXPECT_TRUE(matches(fill(x, 2.0), {3, 4}));
  EXPECT_USER_ERROR(fill(x, 2.5), "[full] i32 cannot hold 2.5");
}

TEST(CallNumbers, HaveNoValueWhileTracing) {
  const auto branch =
      compile([](const Tensor& a, const Number& n) { return n.real() > 0 ? a : -a; });
  EXPECT_THROW(branch(ones({1}), 1.0), UserError);
  Number kept = 0;
  const auto leak = compile([&](const Tensor& a, const Number& n) {
    kept = n;
    return a * n;
  });
  leak(ones({1}), 2.0);
  EXPECT_THROW(kept + 1, UserError);
  EXPECT_THROW(ones({1}) * kept, UserError);
}

TEST(CallNumbers, PassThroughNestedFunctions) {
  const auto inner = compile([](const Tensor& a, const Number& n) { return a * n; });
  const auto outer =
      compile([&](const Number& n, const Tensor& a) { return inner(a, n + 1) + inner(a, 0.5); });
  EXPECT_TRUE(matches(outer(2.0, ones({2})), {3.5, 3.5}));
  EXPECT_TRUE(matches(outer(3.0, ones({2})), {4.5, 4.5}));
}

TEST(CallNumbers, FromManyThreads) {
  const Tensor x = ramp(DType::f32);
  std::atomic<int> traces = 0;
  const auto scale = compile([&](const Tensor& a, const Number& n) {
    ++traces;
    return a * n + sum(a);
  });
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const double n = t * 100 + i + 0.5;
        const Tensor got = scale(x, n);
        const Tensor want = x * n + sum(x);
        if (std::abs(got[0][0].item() - want[0][0].item()) > 1e-3 * std::abs(n)) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(traces, 1);
}

TEST(CallNumbers, AreShownSavedAndLoaded) {
  const Tensor x = ramp(DType::f32);
  const std::vector<Number> numbers{0.25};
  const auto step =
      compile([](const Tensor& w, const Tensor& g, const Number& lr) { return w - (lr / 2) * g; });
  const std::vector<Tensor> tensors{x, x * 2};
  EXPECT_EQ(step.number_arity(), 1);
  EXPECT_EQ(step.info({tensors, numbers}).kernels, 1);
  EXPECT_NE(step.dump("graph", {tensors, numbers}).find("argument real 0.25"), std::string::npos);
  EXPECT_NE(step.explain({tensors, numbers}).find("sub"), std::string::npos);
  EXPECT_USER_ERROR(step.call(tensors), "[compile] the function takes 1 numbers, got 0");
  const std::string path = ::testing::TempDir() + "/numbers.sinter";
  step.save(path, {tensors, numbers});
  const CompiledFunction loaded = load_program(path);
  EXPECT_EQ(loaded.number_arity(), 1);
  for (const double lr : {0.25, 3.0})
    EXPECT_EQ(bytes_of(loaded.call({tensors, std::vector<Number>{lr}})[0]),
              bytes_of(step(tensors[0], tensors[1], lr)));
}

}  // namespace
}  // namespace sinter::testing
