// Every row of ops.def with every dtype against its reference, including special values; numbers as
// arguments, constants, promotion, casts; layouts and sizes.
#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <tuple>

#include "tests/support/op_columns.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();
constexpr Real kInf = std::numeric_limits<Real>::infinity();

void expect_op(const OpRow& op, DType dtype, const Columns& columns, const Tensor& got) {
  const DType result = expected_dtype(op.rule, dtype);
  const std::vector<Real> want = reference_column(op, dtype, columns);
  const Shape shape{static_cast<std::int64_t>(want.size())};
  EXPECT_TRUE(matches(got, shape, result, want, tolerance_of(op, result)))
      << op.name << " of " << name_of(dtype);
}

class EveryOp : public ::testing::TestWithParam<std::tuple<int, DType>> {};

// Several ops per compiled function: one kernel each would take minutes to compile.
TEST_P(EveryOp, MatchesItsReference) {
  const auto [arity, dtype] = GetParam();
  const std::vector<OpRow> rows = rows_of_arity(arity, dtype);
  const Columns columns = operand_values(dtype, arity);
  const std::vector<Tensor> inputs = tensors_of(dtype, columns);
  constexpr std::size_t kOpsAtOnce = 12;
  for (std::size_t begin = 0; begin < rows.size(); begin += kOpsAtOnce) {
    const std::vector<OpRow> ops(
        rows.begin() + static_cast<std::ptrdiff_t>(begin),
        rows.begin() + static_cast<std::ptrdiff_t>(std::min(begin + kOpsAtOnce, rows.size())));
    const std::vector<Tensor> results = compile_ops(ops, arity).call(inputs);
    for (std::size_t i = 0; i < ops.size(); ++i) expect_op(ops[i], dtype, columns, results[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Table, EveryOp,
                         ::testing::Combine(::testing::Values(1, 2, 3),
                                            ::testing::ValuesIn(kAllDTypes)),
                         [](const auto& each) {
                           return "arity" + std::to_string(std::get<0>(each.param)) + "_" +
                                  std::string(name_of(std::get<1>(each.param)));
                         });

// Without compile(), on a non-contiguous input.
TEST(EagerOps, MatchTheirReferences) {
  for (const OpRow& op : op_table()) {
    std::vector<Arg> args;
    std::vector<std::vector<Real>> columns;
    for (int i = 0; i < op.arity; ++i) {
      const Tensor base = random_tensor(DType::f32, {23, 17}, static_cast<unsigned>(i) + 1);
      args.emplace_back(i == 0 ? transpose(base, 0, 1) : reshape(base, {17, 23}));
      columns.push_back(values_of(args.back().tensor()));
    }
    EXPECT_TRUE(matches(op.call(args), {17, 23}, expected_dtype(op.rule, DType::f32),
                        reference_column(op, DType::f32, columns),
                        tolerance_of(op, expected_dtype(op.rule, DType::f32))))
        << op.name;
  }
}

// Numbers as either argument: 1 * x, x / 1 and the like are simplified, but must keep NaN,
// infinities and signed zeros.
class NumbersAsArguments : public ::testing::TestWithParam<DType> {};

TEST_P(NumbersAsArguments, MatchTensors) {
  const DType dtype = GetParam();
  const Columns column = operand_values(dtype, 1);
  const Tensor x = tensors_of(dtype, column)[0];
  const std::vector<std::pair<Arg, Real>> numbers{{0, 0},
                                                  {1, 1},
                                                  {-1, -1},
                                                  {2, 2},
                                                  {true, 1},
                                                  {0.0, 0},
                                                  {1.0, 1},
                                                  {-1.0, -1},
                                                  {2.0, 2},
                                                  {0.5, 0.5L},
                                                  {-0.3, -0.3},
                                                  {static_cast<double>(kInf), kInf},
                                                  {static_cast<double>(kNan), kNan}};
  const auto promoted_with = [&](const Arg& arg) {
    const bool fraction = arg.kind() == Arg::Kind::real && !is_floating(dtype);
    const bool integer_with_bool = arg.kind() == Arg::Kind::integer && dtype == DType::boolean;
    return fraction ? DType::f32 : integer_with_bool ? DType::i64 : dtype;
  };
  for (const OpRow& op : rows_of_arity(2, DType::f32)) {
    // Refusals are tested in errors_test.cpp.
    const auto is_taken = [&](const Arg& arg, Real value, bool is_second) {
      const DType promoted = promoted_with(arg);
      return takes(op, promoted) && takes_number(op, promoted, is_second, value);
    };
    auto f = [&](const Tensor& a) {
      std::vector<Tensor> results;
      for (const auto& [arg, value] : numbers) {
        results.push_back(is_taken(arg, value, true) ? op.call(std::vector<Arg>{a, arg}) : a);
        results.push_back(is_taken(arg, value, false) ? op.call(std::vector<Arg>{arg, a}) : a);
      }
      return results;
    };
    const std::vector<Tensor> results = compile(f)(x);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const auto& [arg, value] = numbers[i / 2];
      if (!is_taken(arg, value, i % 2 == 0)) continue;
      const DType promoted = promoted_with(arg);
      Columns columns{
          column[0], std::vector<Real>(column[0].size(), round_to(compute_dtype(promoted), value))};
      if (i % 2) std::swap(columns[0], columns[1]);
      const DType result = expected_dtype(op.rule, promoted);
      EXPECT_TRUE(matches(results[i], x.shape(), result,
                          reference_column(op, compute_dtype(promoted), columns),
                          tolerance_of(op, result)))
          << op.name << " of " << name_of(dtype) << " and " << static_cast<double>(value)
          << (i % 2 ? ", the number first" : "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, NumbersAsArguments,
                         ::testing::Values(DType::f32, DType::f16, DType::i32, DType::boolean),
                         [](const auto& each) { return std::string(name_of(each.param)); });

// Operations on constants are folded at compile time, by other code than kernels.
TEST(ConstantOperands, AreFoldedToWhatKernelsCompute) {
  for (DType dtype : kAllDTypes) {
    const std::vector<Real> special = special_values(dtype);
    std::vector<OpRow> ops;
    Columns operands;
    std::mt19937 random(11);
    for (const OpRow& op : op_table())
      for (int i = 0; i < 8 && takes(op, dtype); ++i) {
        ops.push_back(op);
        auto pick = [&] {
          return i % 2 ? special[random() % special.size()]
                       : random_values(dtype, 1, random(), -9, 9)[0];
        };
        operands.push_back({pick(), pick(), pick()});
      }
    auto f = [&](const Tensor& x) {
      std::map<DType, std::vector<Tensor>> by_dtype;
      for (std::size_t i = 0; i < ops.size(); ++i) {
        std::vector<Arg> args;
        for (int k = 0; k < ops[i].arity; ++k) {
          const Real value = operands[i][static_cast<std::size_t>(k)];
          args.emplace_back(is_floating(dtype)
                                ? full({1}, static_cast<double>(value), dtype)
                                : full({1}, static_cast<std::int64_t>(value), dtype));
        }
        by_dtype[expected_dtype(ops[i].rule, dtype)].push_back(ops[i].call(args));
      }
      std::vector<Tensor> results{x};
      for (auto& [result, list] : by_dtype) results.push_back(concat(list));
      return results;
    };
    const std::vector<Tensor> results = compile(f)(zeros({1}));
    std::map<DType, std::vector<Real>> values;
    for (const Tensor& result : results)
      if (&result != &results[0]) values[result.dtype()] = values_of(result);
    std::map<DType, std::size_t> next;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const DType result = expected_dtype(ops[i].rule, dtype);
      const Real got = values[result][next[result]++];
      const auto& v = operands[i];
      const Real want = reference_value(ops[i], dtype, v[0], v[1], v[2]);
      EXPECT_EQ(difference(result, got, want, tolerance_of(ops[i], result)), "")
          << ops[i].name << " of " << name_of(dtype) << " " << static_cast<double>(v[0]) << " "
          << static_cast<double>(v[1]) << " " << static_cast<double>(v[2]);
    }
  }
}

// --- dtypes -------------------------------------------------------------------------------------

TEST(Promotion, OfTensorsFollowsTheTable) {
  // Rows and columns in the order of kAllDTypes.
  const char* kTable[7][7] = {
      //  f32    f16    bf16    f64    i32    i64    bool
      {"f32", "f32", "f32", "f64", "f32", "f32", "f32"},      // f32
      {"f32", "f16", "f32", "f64", "f16", "f16", "f16"},      // f16
      {"f32", "f32", "bf16", "f64", "bf16", "bf16", "bf16"},  // bf16
      {"f64", "f64", "f64", "f64", "f64", "f64", "f64"},      // f64
      {"f32", "f16", "bf16", "f64", "i32", "i64", "i32"},     // i32
      {"f32", "f16", "bf16", "f64", "i64", "i64", "i64"},     // i64
      {"f32", "f16", "bf16", "f64", "i32", "i64", "bool"},    // bool
  };
  std::vector<Tensor> inputs;
  for (DType dtype : kAllDTypes) inputs.push_back(random_tensor(dtype, {37}, 3, 0, 9));
  // One kernel: all pairs share inputs. Values are checked along with the dtypes.
  const auto f = compile_list(
      [](std::span<const Tensor> x) {
        std::vector<Tensor> results;
        for (const Tensor& a : x)
          for (const Tensor& b : x) {
            results.push_back(maximum(a, b));
            results.push_back(a + b);
            results.push_back(a < b);
            results.push_back(where(x[6], a, b));
          }
        return results;
      },
      7);
  const std::vector<Tensor> results = f.call(inputs);
  std::size_t next = 0;
  for (std::size_t i = 0; i < 7; ++i)
    for (std::size_t j = 0; j < 7; ++j) {
      SCOPED_TRACE(std::string(kTable[i][j]) + " of " + std::string(name_of(kAllDTypes[i])) +
                   " and " + std::string(name_of(kAllDTypes[j])));
      EXPECT_EQ(name_of(promote(kAllDTypes[i], kAllDTypes[j])), kTable[i][j]);
      const DType promoted = promote(kAllDTypes[i], kAllDTypes[j]);
      const std::vector<Real> a = values_of(inputs[i]);
      const std::vector<Real> b = values_of(inputs[j]);
      const std::vector<Real> chosen = values_of(inputs[6]);
      std::vector<Real> larger;
      std::vector<Real> sum;
      std::vector<Real> less;
      std::vector<Real> picked;
      for (std::size_t k = 0; k < a.size(); ++k) {
        const Real x = round_to(promoted, a[k]);
        const Real y = round_to(promoted, b[k]);
        larger.push_back(std::max(x, y));
        sum.push_back(x + y);
        less.push_back(x < y);
        picked.push_back(chosen[k] != 0 ? x : y);
      }
      EXPECT_TRUE(matches(results[next++], {37}, promoted, larger));
      EXPECT_TRUE(matches(results[next++], {37}, promoted,
                          promoted == DType::boolean ? larger : sum, {0.501}));
      EXPECT_TRUE(matches(results[next++], {37}, DType::boolean, less));
      EXPECT_TRUE(matches(results[next++], {37}, promoted, picked));
    }
}

TEST(Promotion, OfNumbersYieldsToTensors) {
  struct Case {
    Arg number;
    const char* maximum[7];  // f32 f16 bf16 f64 i32 i64 bool, as for rule Same
    const char* add[7];
  };
  const Case kCases[] = {
      {true,
       {"f32", "f16", "bf16", "f64", "i32", "i64", "bool"},
       {"f32", "f16", "bf16", "f64", "i32", "i64", "bool"}},
      {2,
       {"f32", "f16", "bf16", "f64", "i32", "i64", "i64"},
       {"f32", "f16", "bf16", "f64", "i32", "i64", "i64"}},
      {2.5,
       {"f32", "f16", "bf16", "f64", "f32", "f32", "f32"},
       {"f32", "f16", "bf16", "f64", "f32", "f32", "f32"}},
  };
  for (std::size_t i = 0; i < 7; ++i) {
    // Dtypes are known while tracing, so only the last result is compiled.
    auto f = [&](const Tensor& x) {
      for (const Case& each : kCases) {
        EXPECT_EQ(name_of(maximum(x, each.number).dtype()), each.maximum[i]);
        EXPECT_EQ(name_of(maximum(each.number, x).dtype()), each.maximum[i]);
        EXPECT_EQ(name_of(add(x, each.number).dtype()), each.add[i]);
        EXPECT_EQ(name_of(add(each.number, x).dtype()), each.add[i]);
        EXPECT_EQ(name_of(where(x, each.number, x).dtype()), each.maximum[i]);
        EXPECT_EQ((x < each.number).dtype(), DType::boolean);
        EXPECT_EQ((x && each.number).dtype(), DType::boolean);
        const DType floating = is_floating(x.dtype()) ? x.dtype() : DType::f32;
        EXPECT_EQ(div(x, each.number).dtype(), floating);
        const DType met = maximum(each.number, x).dtype();
        EXPECT_EQ(pow(each.number, x).dtype(), met == DType::boolean ? DType::i64 : met);
      }
      EXPECT_EQ(where(x, 1, 2).dtype(), DType::i64);
      EXPECT_EQ(where(x, 1.0, 2).dtype(), DType::f32);
      EXPECT_EQ(where(x, true, false).dtype(), DType::boolean);
      return x;
    };
    compile(f)(random_tensor(kAllDTypes[i], {3}));
  }
}

TEST(Cast, ConvertsEveryDTypeToEveryOther) {
  for (DType from : kAllDTypes) {
    const Columns columns = operand_values(from, 1);
    auto f = [](const Tensor& x) {
      std::vector<Tensor> results;
      for (DType to : kAllDTypes) results.push_back(cast(x, to));
      return results;
    };
    const std::vector<Tensor> results = compile(f)(tensors_of(from, columns)[0]);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const DType to = kAllDTypes[i];
      ASSERT_EQ(results[i].dtype(), to);
      const std::vector<Real> got = values_of(results[i]);
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
}

// --- layouts and sizes --------------------------------------------------------------------------

struct Pair {
  std::string name;
  Tensor a, b;
};

// Memory layouts of two operands of about n elements.
std::vector<Pair> layouts(DType dtype, std::int64_t n) {
  auto make = [&](const Shape& shape, unsigned seed) { return random_tensor(dtype, shape, seed); };
  const Tensor a = make({n}, 1);
  const Tensor b = make({n}, 2);
  const Tensor wide = make({n + 3}, 3);
  const Tensor double_wide = make({2 * n + 1}, 4);
  const Tensor tall = make({n, 5}, 5);
  const Tensor flat = make({5, n}, 6);
  const Tensor cube = make({3, n, 5}, 7);
  const Tensor block = make({2, 3, n, 4}, 8);
  const auto window_memory = std::make_shared<Tensor>(make({n + 6}, 9));
  const Tensor windows =
      from_memory(const_cast<void*>(window_memory->data()), {n, 7}, {1, 1}, dtype, window_memory);
  return {
      {"contiguous", a, b},
      {"itself", a, a},
      {"offset", slice(wide, 0, 3, n + 3), b},
      {"different offsets", slice(wide, 0, 1, n + 1), slice(wide, 0, 2, n + 2)},
      {"every second", slice(double_wide, 0, 1, 2 * n + 1, 2), b},
      {"scalar", a, make({}, 10)},
      {"one element", a, make({1}, 11)},
      {"rows", tall, transpose(flat, 0, 1)},
      {"both transposed", transpose(tall, 0, 1), transpose(transpose(flat, 0, 1), 0, 1)},
      {"transposed both ways", transpose(tall, 0, 1), transpose(make({n, 5}, 12), 0, 1)},
      {"a row for all", flat, b},
      {"a column for all", tall, make({n, 1}, 13)},
      {"outer", make({5, 1}, 14), b},
      {"expanded", expand(unsqueeze(a, 0), {4, n}), make({4, n}, 15)},
      {"every second row and column", slice(slice(cube, 0, 0, 3, 2), 2, 1, 5, 2),
       make({2, n, 2}, 16)},
      {"permuted", permute(cube, {2, 0, 1}), make({5, 3, n}, 17)},
      {"permuted and broadcast", permute(block, {3, 1, 0, 2}), make({3, 1, n}, 18)},
      {"middle broadcast", make({3, 1, n}, 19), make({3, 4, n}, 20)},
      {"overlapping windows", windows, make({7}, 21)},
  };
}

void expect_layouts(DType dtype, std::int64_t n) {
  const bool exact = !is_floating(dtype);
  auto f = [](const Tensor& a, const Tensor& b) {
    return std::tuple(a + b, where(a > b, a, b), cast(a, DType::f32) * 0.5);
  };
  const auto compiled = compile(f);
  for (const Pair& pair : layouts(dtype, n)) {
    SCOPED_TRACE(pair.name + " " + to_string(pair.a.shape()) + " and " + to_string(pair.b.shape()) +
                 " of " + std::string(name_of(dtype)));
    const auto [sum, larger, half] = compiled(pair.a, pair.b);
    const Shape shape = sum.shape();
    const std::vector<Real> a = broadcast_values(pair.a, shape);
    const std::vector<Real> b = broadcast_values(pair.b, shape);
    std::vector<Real> sums;
    std::vector<Real> largest;
    for (std::size_t i = 0; i < a.size(); ++i) {
      sums.push_back(a[i] + b[i]);
      largest.push_back(std::max(a[i], b[i]));
    }
    std::vector<Real> halves = values_of(pair.a);
    for (Real& value : halves) value *= 0.5;
    EXPECT_TRUE(matches(sum, dtype == DType::boolean ? largest : sums, {exact ? 0 : 0.501}));
    EXPECT_TRUE(matches(larger, largest));
    EXPECT_TRUE(matches(half, pair.a.shape(), DType::f32, halves, {0.5}));
  }
}

TEST(Layouts, OfEverySizeInF32) {
  for (std::int64_t n : {1, 7, 16, 17, 31, 100, 1000, 4097}) expect_layouts(DType::f32, n);
}

TEST(Layouts, OfEveryDType) {
  for (DType dtype : kAllDTypes)
    if (dtype != DType::f32) expect_layouts(dtype, 100);
  expect_layouts(DType::f16, 1000);
}

TEST(Layouts, WithNoElements) {
  for (const Shape& shape : {Shape{0}, Shape{3, 0}, Shape{0, 5}, Shape{2, 0, 3}}) {
    const Tensor x = zeros(shape);
    EXPECT_EQ((x + 1).shape(), shape);
    EXPECT_EQ(exp(transpose(x, 0, -1)).numel(), 0);
    EXPECT_EQ((x < x).to_vector<bool>().size(), 0u);
  }
  EXPECT_EQ((zeros({0, 5}) + zeros({1, 5})).shape(), (Shape{0, 5}));
  EXPECT_EQ((zeros({4, 1}) + zeros({0})).shape(), (Shape{4, 0}));
}

TEST(Layouts, OfScalars) {
  const Tensor x = full({}, 2.5);
  EXPECT_EQ((x * x).shape(), Shape{});
  EXPECT_EQ((x * x).item(), 6.25);
  EXPECT_EQ((x + full({1, 1}, 1)).shape(), (Shape{1, 1}));
  EXPECT_EQ(exp(x - 2.5).item(), 1);
}

TEST(Layouts, OfEightDimensions) {
  const Tensor x = counting_tensor({2, 3, 1, 2, 2, 1, 3, 2});
  const Tensor y = permute(x, {7, 6, 5, 4, 3, 2, 1, 0});
  std::vector<Real> want = values_of(y);
  for (Real& value : want) value = 2 * value + 1;
  EXPECT_TRUE(matches(y * 2 + 1, y.shape(), DType::f32, want));
  EXPECT_EQ((x + y).shape(), (Shape{2, 3, 1, 2, 2, 1, 3, 2}));
}

// --- the rest of the pointwise API --------------------------------------------------------------

TEST(Operators, AreTheFunctions) {
  const Tensor a = tensor_of(DType::i32, {4}, {7, -7, 7, -7});
  const Tensor b = tensor_of(DType::i32, {4}, {2, 2, -2, 3});
  EXPECT_TRUE(matches(a + b, {9, -5, 5, -4}));
  EXPECT_TRUE(matches(a - b, {5, -9, 9, -10}));
  EXPECT_TRUE(matches(a * b, {14, -14, -14, -21}));
  EXPECT_TRUE(matches(a / b, {3.5L, -3.5L, -3.5L, -7 / 3.L}, {0.5}));
  EXPECT_TRUE(matches(a % b, {1, 1, -1, 2}));
  EXPECT_TRUE(matches(floor_div(a, b), {3, -4, -4, -3}));
  EXPECT_TRUE(matches(-a, {-7, 7, -7, 7}));
  EXPECT_TRUE(matches(a < b, {0, 1, 0, 1}));
  EXPECT_TRUE(matches(a <= 7, {1, 1, 1, 1}));
  EXPECT_TRUE(matches(a > b, {1, 0, 1, 0}));
  EXPECT_TRUE(matches(0 >= a, {0, 1, 0, 1}));
  EXPECT_TRUE(matches(a == 7, {1, 0, 1, 0}));
  EXPECT_TRUE(matches(a != 7, {0, 1, 0, 1}));
  EXPECT_TRUE(matches(a > 0 && b > 0, {1, 0, 0, 0}));
  EXPECT_TRUE(matches(a > 0 || b > 0, {1, 1, 1, 1}));
  EXPECT_TRUE(matches(!(a > 0), {0, 1, 0, 1}));
}

TEST(Operators, GeluHasTwoForms) {
  const Tensor x = tensor_of(DType::f32, {3}, {-1, 0, 2});
  EXPECT_TRUE(matches(gelu(x), {-0.158655253931457L, 0, 1.954499736103642L}, {8}));
  EXPECT_TRUE(matches(gelu(x, GeluForm::tanh), {-0.158808009392L, 0, 1.954597694087L}, {8}));
}

TEST(MakingTensors, FullZerosOnes) {
  for (DType dtype : kAllDTypes) {
    EXPECT_TRUE(matches(zeros({3, 5}, dtype), {3, 5}, dtype, std::vector<Real>(15, 0)));
    EXPECT_TRUE(matches(ones({7}, dtype), {7}, dtype, std::vector<Real>(7, 1)));
    EXPECT_TRUE(matches(full({}, 1, dtype), {}, dtype, {1}));
    EXPECT_EQ(full({0, 4}, 1, dtype).numel(), 0);
  }
  EXPECT_TRUE(matches(full({1000}, 2.5), std::vector<Real>(1000, 2.5L)));
  EXPECT_TRUE(matches(full({2}, 2.0, DType::i32), {2, 2}));
  EXPECT_TRUE(matches(full({2}, 0.1, DType::f16), {0.1L, 0.1L}, {0.5}));
  EXPECT_TRUE(matches(full({2}, static_cast<double>(kInf)), {kInf, kInf}));
  EXPECT_TRUE(matches(full({2}, static_cast<double>(kNan)), {kNan, kNan}));
  EXPECT_TRUE(matches(full({1}, std::int64_t{9007199254740993}, DType::i64), {9007199254740993}));
}

TEST(MakingTensors, Arange) {
  EXPECT_TRUE(matches(arange(0, 5), {5}, DType::i64, {0, 1, 2, 3, 4}));
  EXPECT_TRUE(matches(arange(5, 0, -2), {3}, DType::i64, {5, 3, 1}));
  EXPECT_TRUE(matches(arange(2, 9, 3), {3}, DType::i64, {2, 5, 8}));
  EXPECT_TRUE(matches(arange(0, 1, 0.25), {4}, DType::f32, {0, 0.25L, 0.5L, 0.75L}));
  EXPECT_TRUE(matches(arange(0, 3, 1, DType::f16), {3}, DType::f16, {0, 1, 2}));
  EXPECT_TRUE(matches(arange(0, 3, 1, DType::i32), {3}, DType::i32, {0, 1, 2}));
  EXPECT_EQ(arange(3, 3).numel(), 0);
  EXPECT_EQ(arange(3, 0).numel(), 0);
  std::vector<Real> want;
  for (int i = 0; i < 5000; ++i) want.push_back(-7 + 3 * i);
  EXPECT_TRUE(matches(arange(-7, -7 + 3 * 5000, 3), want));
  EXPECT_TRUE(
      matches(arange(std::int64_t{1} << 40, (std::int64_t{1} << 40) + 2), {0x1p40L, 0x1p40L + 1}));
}

}  // namespace
}  // namespace sinter::testing
