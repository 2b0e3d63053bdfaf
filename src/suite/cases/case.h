// Case: one program of the fusion suite, as data: what goes in, what it computes, how its result is
// checked. Adding a case is adding one of these to pointwise_cases.cpp or row_cases.cpp.
#pragma once

#include <sinter/tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::suite {

struct Shape2 {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t numel() const { return rows * cols; }
  friend bool operator==(const Shape2&, const Shape2&) = default;
};
std::string to_string(const Shape2& shape);   // "4096x128"
Shape2 parse_shape(std::string_view text);    // UserError
DType parse_dtype(std::string_view text);     // f32, f16, bf16, f64; UserError
std::vector<std::string_view> dtype_names();  // those the suite runs with

enum class Layout : std::uint8_t {
  matrix,      // (rows, cols)
  transposed,  // (cols, rows): the program transposes it
  vector,      // (cols)
};

enum class Values : std::uint8_t {
  normal,   // mean 0, deviation 1
  softmax,  // each row is the softmax of normal values
  shares,   // (1 + normal / 2) / cols: a row adds up to about 1, so do products with row sums
};

struct Input {
  Layout layout = Layout::matrix;
  Values values = Values::normal;
};

enum class Output : std::uint8_t { matrix, row_value };  // (rows, cols), (rows)

using Tensors = std::vector<Tensor>;
using ProgramFunction = Tensors (*)(std::span<const Tensor> inputs);

// One row of the result in double, from one row of each input: every case works row by row. Shares
// nothing with the pipeline that it checks.
using Rows = std::span<const std::span<const double>>;
using ResultRows = std::span<const std::span<double>>;
using ReferenceFunction = void (*)(Rows inputs, ResultRows outputs);

struct Case {
  std::string name;
  std::string formula;  // for people
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  ProgramFunction program;
  ReferenceFunction reference;
  int flops_per_element;  // an operation of the program counts one, exp as much as add
  int tolerance_ulps;     // of the type computed in, see tolerance()
  int roundings = 1;      // to a 16-bit type: the result, and what the program itself rounds before
};

std::int64_t input_bytes(const Case& each, const Shape2& shape, DType dtype);
std::int64_t output_bytes(const Case& each, const Shape2& shape, DType dtype);
// Every input read once and every output written once.
std::int64_t bytes_min(const Case& each, const Shape2& shape, DType dtype);
// Of inputs that lie transposed in memory.
std::int64_t transposed_bytes(const Case& each, const Shape2& shape, DType dtype);
std::int64_t flops(const Case& each, const Shape2& shape);

// The largest relative error a fused kernel may have: `roundings` to a 16-bit type, and
// tolerance_ulps of the type it computes in. Where results are so small that `dtype` runs out of
// digits (f16 below 6e-5) one step of it, relative to `rms` of the reference, comes on top.
double tolerance(const Case& each, DType dtype, double rms);

// DESIGN's cases that the pipeline cannot run yet.
struct PendingCase {
  std::string name;
  std::string reason;
};

const std::vector<Case>& all_cases();
std::vector<Case> pointwise_cases();
std::vector<Case> row_cases();  // those that reduce along rows
const std::vector<PendingCase>& pending_cases();

// UserError with the nearest name, or with the reason where the case cannot run yet.
const Case& find_case(std::string_view name);

}  // namespace sinter::suite
