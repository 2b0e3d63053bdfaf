// The table of cases, the pending ones, and lookup by name.
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "src/base/check.h"
#include "src/base/nearest_name.h"
#include "src/suite/cases/case.h"

namespace sinter::suite {
namespace {

std::vector<Case> make_cases() {
  std::vector<Case> cases = pointwise_cases();
  for (const Case& each : row_cases()) cases.push_back(each);
  return cases;
}

std::vector<PendingCase> make_pending() {
  const std::string product = "shapes of three sizes (MxNxK) are not there yet";
  std::vector<PendingCase> pending{
      {"bias_gelu_dropout_add", "dropout in training form and gradients are not there yet"}};
  for (const char* name :
       {"matmul", "matmul_add", "matmul_bias", "matmul_relu", "matmul_add_relu", "matmul_matmul"})
    pending.push_back({name, product});
  pending.push_back({"geglu", "gradients are not there yet"});
  for (const char* name : {"conv_add", "conv_relu", "conv_bn"})
    pending.push_back({name, "the pipeline has no convolution yet"});
  pending.push_back({"attention", "there is no kernel for attention yet"});
  return pending;
}

std::int64_t elements(const Input& input, const Shape2& shape) {
  return input.layout == Layout::vector ? shape.cols : shape.numel();
}

std::optional<std::int64_t> parse_size(std::string_view text) {
  std::int64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc() || end != text.data() + text.size() || size < 1 || size > (1LL << 31))
    return std::nullopt;
  return size;
}

constexpr std::int64_t kMostElements = std::int64_t{1} << 48;
constexpr std::array kDTypes{DType::f32, DType::f16, DType::bf16, DType::f64};

}  // namespace

std::string to_string(const Shape2& shape) { return fmt::format("{}x{}", shape.rows, shape.cols); }

std::optional<Shape2> try_parse_shape(std::string_view text) {
  const std::size_t x = text.find('x');
  if (x == std::string_view::npos) return std::nullopt;
  const std::optional<std::int64_t> rows = parse_size(text.substr(0, x));
  const std::optional<std::int64_t> cols = parse_size(text.substr(x + 1));
  if (!rows || !cols) return std::nullopt;
  return Shape2{*rows, *cols};
}

Shape2 parse_shape(std::string_view text, std::string_view op) {
  const std::optional<Shape2> shape = try_parse_shape(text);
  if (!shape) fail_user(op, "'{}' is not a shape; expected ROWSxCOLS, e.g. 4096x128", text);
  // Keeps byte and operation counts from overflowing.
  if (shape->rows > kMostElements / shape->cols)
    fail_user(op, "the shape {} has more than 2^48 elements", text);
  return *shape;
}

DType parse_dtype(std::string_view text, std::string_view op) {
  for (DType dtype : kDTypes)
    if (name_of(dtype) == text) return dtype;
  const std::vector<std::string_view> known = dtype_names();
  const std::vector<std::string> names(known.begin(), known.end());
  fail_user(op, "{}", unknown_name("type", text, names));
}

std::vector<std::string_view> dtype_names() {
  std::vector<std::string_view> names;
  for (DType dtype : kDTypes) names.push_back(name_of(dtype));
  return names;
}

std::int64_t input_bytes(const Case& each, const Shape2& shape, DType dtype) {
  std::int64_t count = 0;
  for (const Input& input : each.inputs) count += elements(input, shape);
  return count * static_cast<std::int64_t>(size_of(dtype));
}

std::int64_t output_bytes(const Case& each, const Shape2& shape, DType dtype) {
  std::int64_t count = 0;
  for (Output output : each.outputs) count += output == Output::matrix ? shape.numel() : shape.rows;
  return count * static_cast<std::int64_t>(size_of(dtype));
}

std::int64_t bytes_min(const Case& each, const Shape2& shape, DType dtype) {
  return input_bytes(each, shape, dtype) + output_bytes(each, shape, dtype);
}

std::int64_t transposed_bytes(const Case& each, const Shape2& shape, DType dtype) {
  std::int64_t count = 0;
  for (const Input& input : each.inputs)
    if (input.layout == Layout::transposed) count += elements(input, shape);
  return count * static_cast<std::int64_t>(size_of(dtype));
}

std::int64_t flops(const Case& each, const Shape2& shape) {
  return shape.numel() * each.flops_per_element;
}

double tolerance(const Case& each, DType dtype, double rms) {
  const double computed = dtype == DType::f64 ? std::numeric_limits<double>::epsilon()
                                              : std::numeric_limits<float>::epsilon();
  const double limit = each.tolerance_ulps * computed;
  if (dtype == DType::bf16) return limit + each.roundings * std::ldexp(1.0, -8);
  if (dtype == DType::f16)
    return limit + each.roundings * std::ldexp(1.0, -11) + std::ldexp(1.0, -24) / rms;
  return limit;
}

const std::vector<Case>& all_cases() {
  static const std::vector<Case> cases = make_cases();
  return cases;
}

const std::vector<PendingCase>& pending_cases() {
  static const std::vector<PendingCase> pending = make_pending();
  return pending;
}

const Case& find_case(std::string_view name, std::string_view op) {
  std::vector<std::string> names;
  for (const Case& each : all_cases()) {
    if (each.name == name) return each;
    names.push_back(each.name);
  }
  for (const PendingCase& each : pending_cases())
    if (each.name == name) fail_user(op, "case {} cannot run yet: {}", name, each.reason);
  fail_user(op, "{}", unknown_name("case", name, names));
}

}  // namespace sinter::suite
