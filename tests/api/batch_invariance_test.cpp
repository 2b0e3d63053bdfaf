// CompileOptions::batch_invariant: a row's bits do not depend on the rows beside it. On every
// available device, and in the interpreter, where the folder's tests run again without a compiler.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tests/support/gpu.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

using Tensors = std::vector<Tensor>;

// A program of a tensor with rows, and of tensors that all rows share.
struct Subject {
  std::string name;
  std::function<Tensors(std::span<const Tensor>)> run;
  Shape (*shape)(std::int64_t rows, std::int64_t length);
  std::vector<Shape> (*shared)(std::int64_t length) = [](std::int64_t) {
    return std::vector<Shape>{};
  };
  int axis = 0;         // of the rows, in the input
  int result_axis = 0;  // and in all results
  std::int64_t longest = 300001;
};

Shape by_rows(std::int64_t rows, std::int64_t length) { return {rows, length}; }
Shape by_columns(std::int64_t rows, std::int64_t length) { return {length, rows}; }
std::vector<Shape> a_weight(std::int64_t length) { return {{length}}; }

std::vector<Subject> subjects() {
  std::vector<Subject> all;
  all.push_back({"softmax", [](auto in) { return Tensors{softmax(in[0], 1)}; }, by_rows});
  all.push_back({"layernorm", [](auto in) { return Tensors{layer_norm(in[0], in[1], in[2])}; },
                 by_rows,
                 [](std::int64_t length) {
                   return std::vector<Shape>{{length}, {length}};
                 }});
  all.push_back({"scaled by what shared operands give",
                 [](auto in) {
                   const Tensor scale = exp(in[1] * 0.5) * 0.3;
                   return Tensors{sum(in[0] * scale + in[0], {1}), in[0] * scale + in[0]};
                 },
                 by_rows, a_weight});
  all.push_back({"row sum beside cosine",
                 [](auto in) {
                   return Tensors{sum(in[0], {1}), cos(in[0])};
                 },
                 by_rows});
  all.push_back({"row sum beside row maximum",
                 [](auto in) {
                   return Tensors{sum(in[0], {1}), max(in[0], {1}), argmax(in[0], 1)};
                 },
                 by_rows});
  all.push_back({"matrix product",
                 [](auto in) { return Tensors{tanh(matmul(in[0], in[1]) + 0.1)}; }, by_rows,
                 [](std::int64_t length) {
                   return std::vector<Shape>{{length, 40}};
                 },
                 0, 0, 5003});
  all.push_back({"product with one column", [](auto in) { return Tensors{matmul(in[0], in[1])}; },
                 by_rows,
                 [](std::int64_t length) {
                   return std::vector<Shape>{{length, 1}};
                 },
                 0, 0, 5003});
  all.push_back({"product whose columns are the rows",
                 [](auto in) { return Tensors{matmul(in[1], in[0])}; }, by_columns,
                 [](std::int64_t length) {
                   return std::vector<Shape>{{5, length}};
                 },
                 1, 1, 5003});
  all.push_back({"mean over the last two axes",
                 [](auto in) {
                   return Tensors{mean(in[0], {1, 2})};
                 },
                 [](std::int64_t rows, std::int64_t length) {
                   return Shape{rows, 6, length};
                 },
                 [](std::int64_t) { return std::vector<Shape>{}; }, 0, 0, 50257});
  all.push_back({"mean over the axes around the rows",
                 [](auto in) {
                   return Tensors{mean(in[0], {0, 2})};
                 },
                 [](std::int64_t rows, std::int64_t length) {
                   return Shape{6, rows, length};
                 },
                 [](std::int64_t) { return std::vector<Shape>{}; }, 1, 0, 50257});
  all.push_back({"column sums", [](auto in) { return Tensors{sum(in[0], {0})}; }, by_columns,
                 [](std::int64_t) { return std::vector<Shape>{}; }, 1, 0});
  all.push_back({"softmax of columns", [](auto in) { return Tensors{softmax(in[0], 0)}; },
                 by_columns, [](std::int64_t) { return std::vector<Shape>{}; }, 1, 1});
  all.push_back({"rows that lie across memory",
                 [](auto in) { return Tensors{softmax(transpose(in[0], 0, 1), 1)}; }, by_columns,
                 [](std::int64_t) { return std::vector<Shape>{}; }, 1, 0});
  return all;
}

struct BitsCase {
  const char* device;
  DType dtype;
};

class BatchInvariance : public ::testing::TestWithParam<BitsCase> {
 protected:
  void SetUp() override {
    if (device() != "cpu") SINTER_NEEDS_DEVICE(device());
  }
  static std::string device() { return GetParam().device; }

  // What a test takes a second or so for.
  static std::int64_t most_elements() {
    const char* compiler = std::getenv("SINTER_CXX");
    if (compiler && compiler == std::string("none")) return 20'000;
    return device() == "simt" ? 20'000 : 700'000;
  }

  static Tensor input(const Shape& shape, unsigned seed) {
    return random_tensor(GetParam().dtype, shape, seed, -1.5L, 1.5L).to(device());
  }
};

std::string name_of_case(const ::testing::TestParamInfo<BitsCase>& info) {
  const std::string device = info.param.device;
  return (device == "cpu"    ? std::string("Cpu")
          : device == "simt" ? std::string("Simt")
                             : std::string("Gpu")) +
         std::string(name_of(info.param.dtype));
}

INSTANTIATE_TEST_SUITE_P(
    Devices, BatchInvariance,
    ::testing::Values(BitsCase{"cpu", DType::f32}, BitsCase{"cpu", DType::bf16},
                      BitsCase{"simt", DType::f32}, BitsCase{"simt", DType::bf16},
                      BitsCase{"cuda", DType::f32}, BitsCase{"cuda", DType::bf16}),
    name_of_case);

// Elements whose bits differ. Values are never NaN.
std::int64_t differences(const Tensor& got, const Tensor& want) {
  const std::vector<Real> a = values_of(got.to("cpu"));
  const std::vector<Real> b = values_of(want.to("cpu"));
  EXPECT_EQ(a.size(), b.size());
  std::int64_t count = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    count += a[i] != b[i] || std::signbit(a[i]) != std::signbit(b[i]) ? 1 : 0;
  return count;
}

struct Range {
  std::int64_t first;
  std::int64_t last;
};

// 1, 2, 3, 7, 33 and 1000 rows, from the middle and from the end.
std::vector<Range> ranges_of(std::int64_t rows) {
  std::vector<Range> ranges;
  for (const std::int64_t count : {1, 2, 3, 7, 33, 1000}) {
    if (count > rows) break;
    for (const std::int64_t first : {(rows - count) / 2, rows - count})
      ranges.push_back({first, first + count});
  }
  return ranges;
}

TEST_P(BatchInvariance, ARowHasTheSameBitsInEveryBatch) {
  for (const Subject& subject : subjects())
    for (const std::int64_t length : {1, 3, 17, 511, 5003, 50257, 300001}) {
      if (length > subject.longest || length * 2 > most_elements()) continue;
      const std::int64_t row_elements = subject.shape(1, length).numel();
      const std::int64_t rows = std::clamp<std::int64_t>(most_elements() / row_elements, 2, 1001);
      Tensors all{input(subject.shape(rows, length), 1)};
      for (const Shape& shape : subject.shared(length))
        all.push_back(input(shape, static_cast<unsigned>(all.size()) + 1));
      const CompiledFunction f = compile_list(subject.run, static_cast<int>(all.size()),
                                              {.name = subject.name, .batch_invariant = true});
      const Tensors expected = f.call(all);
      for (const auto& [first, last] : ranges_of(rows)) {
        Tensors some = all;
        some[0] = slice(all[0], subject.axis, first, last);
        for (const bool is_copied : {false, true}) {
          if (is_copied) some[0] = contiguous(some[0]);
          const Tensors got = f.call(some);
          for (std::size_t i = 0; i < got.size(); ++i)
            ASSERT_EQ(differences(got[i], slice(expected[i], subject.result_axis, first, last)), 0)
                << subject.name << ", result " << i << ", rows " << first << " to " << last
                << " of " << rows << ", " << length << " long" << (is_copied ? ", copied" : "")
                << "\n"
                << f.explain(some) << f.explain(all);
        }
      }
    }
}

}  // namespace
}  // namespace sinter::testing
