// Case: one program of the fusion suite as data: inputs, program, and how its result is checked. To
// add a case, add one of these to pointwise_cases.cpp or row_cases.cpp.
#pragma once

#include <sinter/tensor.h>

#include <cstdint>
#include <optional>
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
std::string to_string(const Shape2& shape);  // "4096x128"
std::optional<Shape2> try_parse_shape(std::string_view text);
// UserError under the tag `op`.
Shape2 parse_shape(std::string_view text, std::string_view op = "suite");
DType parse_dtype(std::string_view text, std::string_view op = "suite");  // one of dtype_names()
std::vector<std::string_view> dtype_names();                              // f32, f16, bf16, f64

enum class Layout : std::uint8_t {
  matrix,      // (rows, cols)
  transposed,  // (cols, rows); the program transposes it
  vector,      // (cols)
};

enum class Values : std::uint8_t {
  normal,   // mean 0, standard deviation 1
  softmax,  // each row is the softmax of normal values
  shares,   // (1 + normal / 2) / cols: row sums, and products with them, stay near 1
};

struct Input {
  Layout layout = Layout::matrix;
  Values values = Values::normal;
};

enum class Output : std::uint8_t { matrix, row_value };  // (rows, cols), (rows)

using Tensors = std::vector<Tensor>;
using ProgramFunction = Tensors (*)(std::span<const Tensor> inputs);

// Computes one output row in double from one row of each input: every case works row by row. Shares
// no code with the pipeline it checks.
using Rows = std::span<const std::span<const double>>;
using ResultRows = std::span<const std::span<double>>;
using ReferenceFunction = void (*)(Rows inputs, ResultRows outputs);

struct Case {
  std::string name;
  std::string formula;  // for readers
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  ProgramFunction program;
  ReferenceFunction reference;
  int flops_per_element;  // every operation of the program counts one, exp as much as add
  int tolerance_ulps;     // ulps of the compute type; see tolerance()
  int roundings = 1;      // roundings to a 16-bit type: the result, plus those in the program
};

std::int64_t input_bytes(const Case& each, const Shape2& shape, DType dtype);
std::int64_t output_bytes(const Case& each, const Shape2& shape, DType dtype);
// Every input read once and every output written once.
std::int64_t bytes_min(const Case& each, const Shape2& shape, DType dtype);
// Bytes of inputs that are transposed in memory.
std::int64_t transposed_bytes(const Case& each, const Shape2& shape, DType dtype);
std::int64_t flops(const Case& each, const Shape2& shape);

// The largest allowed relative error of a fused kernel: `roundings` to a 16-bit type plus
// tolerance_ulps of the compute type. Where results are subnormal in `dtype` (f16 below 6e-5), one
// step relative to the reference's `rms` is added.
double tolerance(const Case& each, DType dtype, double rms);

// Planned cases that the pipeline cannot run yet.
struct PendingCase {
  std::string name;
  std::string reason;
};

const std::vector<Case>& all_cases();
std::vector<Case> pointwise_cases();
std::vector<Case> row_cases();  // cases that reduce along rows
const std::vector<PendingCase>& pending_cases();

// UserError with the nearest name, or with the reason if the case cannot run yet.
const Case& find_case(std::string_view name, std::string_view op = "suite");

}  // namespace sinter::suite
