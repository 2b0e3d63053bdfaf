// Two parallel passes over the checked rows: the first computes the reference and its rms, the
// second compares every provider's results with it.
#include "src/suite/measure/accuracy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>

#include "src/api/tensor_impl.h"
#include "src/base/check.h"
#include "src/suite/cases/inputs.h"
#include "src/suite/measure/host_rows.h"

namespace sinter::suite {
namespace {

constexpr std::int64_t kCheckedElements = std::int64_t{1} << 24;
constexpr std::int64_t kCheckedRows = 64;

RowLayout input_layout(const Input& input, const Shape2& shape, const Strides& strides) {
  if (input.layout == Layout::vector) return {shape.cols, 0, strides[0]};
  if (input.layout == Layout::transposed) return {shape.cols, strides[1], strides[0]};
  return {shape.cols, strides[0], strides[1]};
}

RowLayout output_layout(Output output, const Shape2& shape, const Strides& strides) {
  if (output == Output::row_value) return {1, strides[0], 0};
  return {shape.cols, strides[0], strides[1]};
}

void check_shape(const Case& each, const Shape2& shape, const std::vector<Tensor>& outputs) {
  SINTER_ASSERT(outputs.size() == each.outputs.size(), "{} gave {} results, expected {}", each.name,
                outputs.size(), each.outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Shape expected =
        each.outputs[i] == Output::matrix ? Shape{shape.rows, shape.cols} : Shape{shape.rows};
    SINTER_ASSERT(outputs[i].shape() == expected, "{} gave {}, expected {}", each.name,
                  sinter::to_string(outputs[i].shape()), sinter::to_string(expected));
  }
}

std::int64_t checked_row_count(const Shape2& shape) {
  return std::clamp(kCheckedElements / shape.cols, std::min(kCheckedRows, shape.rows), shape.rows);
}

// The rows to check, evenly spaced from first to last.
std::vector<std::int64_t> checked_rows(const Shape2& shape) {
  const std::int64_t count = checked_row_count(shape);
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i)
    rows[static_cast<std::size_t>(i)] = count == 1 ? 0 : i * (shape.rows - 1) / (count - 1);
  return rows;
}

// The reference of one output, row by row.
class Expected {
 public:
  Expected(std::int64_t rows, std::int64_t cols)
      : cols_(cols),
        memory_(host_memory(rows * cols * static_cast<std::int64_t>(sizeof(double)))),
        row_squares_(static_cast<std::size_t>(rows)) {}

  std::int64_t cols() const { return cols_; }
  std::int64_t count() const { return std::ssize(row_squares_) * cols_; }
  std::span<double> row(std::int64_t i) {
    return {static_cast<double*>(memory_->data()) + i * cols_, static_cast<std::size_t>(cols_)};
  }

  void finish_row(std::int64_t i) {
    double squares = 0;
    for (double x : row(i)) squares += x * x;
    row_squares_[static_cast<std::size_t>(i)] = squares;
  }
  // Summed in order, so that the result does not depend on the threads.
  double rms() const {
    const double squares = std::accumulate(row_squares_.begin(), row_squares_.end(), 0.0);
    return std::sqrt(squares / static_cast<double>(count()));
  }

 private:
  std::int64_t cols_;
  StoragePtr memory_;
  std::vector<double> row_squares_;
};

// One row of an input: read in place if the host can, else generated again, which is faster than
// copying it and detects kernels that write to their inputs.
class InputReader {
 public:
  InputReader(const Case& each, std::size_t index, const Shape2& shape, const Tensor& tensor,
              std::span<const std::int64_t> rows)
      : rows_(rows) {
    if (tensor.impl()->device->shares_host_memory())
      in_place_.emplace(tensor, input_layout(each.inputs[index], shape, tensor.strides()), rows);
    else
      made_.emplace(each, index, shape, tensor.dtype());
  }

  void read(std::int64_t i, std::span<double> values) const {
    if (in_place_)
      in_place_->read(i, values);
    else
      made_->read(rows_[static_cast<std::size_t>(i)], values);
  }

 private:
  std::span<const std::int64_t> rows_;
  std::optional<HostRows> in_place_;
  std::optional<InputRows> made_;
};

std::vector<Expected> make_reference(const Case& each, const Shape2& shape,
                                     std::span<const Tensor> inputs,
                                     std::span<const std::int64_t> rows, ThreadPool& threads) {
  std::vector<InputReader> readers;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    readers.emplace_back(each, i, shape, inputs[i], rows);
  const std::int64_t count = std::ssize(rows);
  std::vector<Expected> expected;
  for (Output output : each.outputs)
    expected.emplace_back(count, output == Output::matrix ? shape.cols : 1);
  threads.parallel_for(count, 0, [&](std::int64_t first, std::int64_t last, char*) {
    std::vector<std::vector<double>> in(readers.size(),
                                        std::vector<double>(static_cast<std::size_t>(shape.cols)));
    const std::vector<std::span<const double>> views(in.begin(), in.end());
    std::vector<std::span<double>> out(expected.size());
    for (std::int64_t i = first; i < last; ++i) {
      for (std::size_t k = 0; k < in.size(); ++k) readers[k].read(i, in[k]);
      for (std::size_t k = 0; k < out.size(); ++k) out[k] = expected[k].row(i);
      each.reference(views, out);
      for (Expected& e : expected) e.finish_row(i);
    }
  });
  return expected;
}

// NaN counts as the largest value.
double larger(double a, double b) { return std::isnan(a) || a >= b ? a : b; }

struct Errors {
  double absolute = 0;
  double relative = 0;

  void add(double value, double reference, double rms) {
    if (value == reference || (std::isnan(value) && std::isnan(reference))) return;
    const double error = std::fabs(value - reference);
    absolute = larger(absolute, error);
    relative = larger(relative, error / std::max(std::fabs(reference), rms));
  }
};

Errors compare(Expected& expected, const HostRows& results, std::int64_t count,
               ThreadPool& threads) {
  Errors worst;
  std::mutex mutex;
  const double rms = expected.rms();
  threads.parallel_for(count, 0, [&](std::int64_t first, std::int64_t last, char*) {
    std::vector<double> values(static_cast<std::size_t>(expected.cols()));
    Errors errors;
    for (std::int64_t i = first; i < last; ++i) {
      results.read(i, values);
      const std::span<const double> reference = expected.row(i);
      for (std::size_t k = 0; k < values.size(); ++k) errors.add(values[k], reference[k], rms);
    }
    const std::lock_guard lock(mutex);
    worst.absolute = larger(worst.absolute, errors.absolute);
    worst.relative = larger(worst.relative, errors.relative);
  });
  return worst;
}

}  // namespace

std::int64_t check_bytes(const Case& each, const Shape2& shape, DType dtype, const Device& device) {
  const std::int64_t checked = checked_row_count(shape) * shape.cols;
  const auto count = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
  const auto reference = static_cast<std::int64_t>(sizeof(double)) * count(each.outputs);
  const std::int64_t fetched =
      device.shares_host_memory() ? 0 : static_cast<std::int64_t>(size_of(dtype));
  return checked * (reference + fetched);
}

std::vector<Accuracy> check_outputs(const Case& each, const Shape2& shape,
                                    std::span<const Tensor> inputs,
                                    std::span<const std::vector<Tensor>> outputs,
                                    ThreadPool& threads) {
  const std::vector<std::int64_t> rows = checked_rows(shape);
  std::vector<Expected> expected = make_reference(each, shape, inputs, rows, threads);
  std::vector<Accuracy> all;
  for (const std::vector<Tensor>& results : outputs) {
    check_shape(each, shape, results);
    Accuracy accuracy;
    accuracy.rms = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < results.size(); ++k) {
      const HostRows fetched(results[k],
                             output_layout(each.outputs[k], shape, results[k].strides()), rows);
      const Errors errors =
          compare(expected[k], fetched, static_cast<std::int64_t>(rows.size()), threads);
      accuracy.max_abs_err = larger(accuracy.max_abs_err, errors.absolute);
      accuracy.max_rel_err = larger(accuracy.max_rel_err, errors.relative);
      accuracy.checked_elements += expected[k].count();
      accuracy.rms = std::min(accuracy.rms, expected[k].rms());
    }
    all.push_back(accuracy);
  }
  return all;
}

}  // namespace sinter::suite
