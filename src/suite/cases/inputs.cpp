// Generates rows in parallel as floats, then rounds them to the dtype.
#include "src/suite/cases/inputs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>

#include "src/api/tensor_impl.h"
#include "src/base/check.h"
#include "src/suite/cases/normal.h"
#include "src/suite/cases/program_inputs.h"
#include "src/suite/measure/host_rows.h"

namespace sinter::suite {
namespace {

Shape stored_shape(const Input& input, const Shape2& shape) {
  switch (input.layout) {
    case Layout::matrix:
      return {shape.rows, shape.cols};
    case Layout::transposed:
      return {shape.cols, shape.rows};
    case Layout::vector:
      break;
  }
  return {shape.cols};
}

std::optional<int> row_axis(const Input& input) {
  if (input.layout == Layout::vector) return std::nullopt;
  return input.layout == Layout::matrix ? 0 : 1;
}

std::string_view name_of(Values values) {
  constexpr std::string_view kNames[] = {"normal", "softmax", "shares"};
  return kNames[static_cast<int>(values)];
}

void shape_row(Values values, std::span<float> row) {
  const auto count = static_cast<float>(row.size());
  if (values == Values::shares)
    for (float& x : row) x = (1 + x / 2) / count;
  if (values != Values::softmax) return;
  double sum = 0;
  for (float& x : row) sum += x = std::exp(x);
  for (float& x : row) x = static_cast<float>(x / sum);
}

template <typename T>
void store(std::span<const float> row, void* data, std::int64_t first) {
  T* to = static_cast<T*>(data) + first;
  for (float x : row) *to++ = static_cast<T>(x);
}

void store_row(DType dtype, std::span<const float> row, void* data, std::int64_t first) {
  switch (dtype) {
    case DType::f16:
      return store<Half>(row, data, first);
    case DType::bf16:
      return store<BFloat16>(row, data, first);
    case DType::f64:
      return store<double>(row, data, first);
    default:
      return store<float>(row, data, first);
  }
}

// The contents of one input, row by row as stored in memory.
struct RowMaker {
  std::uint64_t seed;
  Values values;
  DType dtype;
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t period;  // number of distinct rows

  std::size_t row_bytes() const { return static_cast<std::size_t>(cols) * size_of(dtype); }

  void make(std::int64_t first, std::int64_t last, void* to, ThreadPool& threads) const {
    threads.parallel_for(last - first, 0, [&](std::int64_t begin, std::int64_t end, char*) {
      std::vector<float> row(static_cast<std::size_t>(cols));
      for (std::int64_t r = begin; r < end; ++r) {
        fill_normal(seed, (first + r) % period * cols, row);
        shape_row(values, row);
        store_row(dtype, row, to, r * cols);
      }
    });
  }
};

constexpr std::int64_t kRandomElements = std::int64_t{1} << 22;

std::int64_t period_of(std::int64_t rows, std::int64_t cols) {
  const std::int64_t fitting = std::max(kRandomElements / cols, std::int64_t{1});
  return fitting >= rows ? rows : fitting - (fitting % 2 == 0 ? 1 : 0);
}

std::uint64_t input_seed(const Case& each, std::size_t index, const Shape2& shape) {
  return seed_of(fmt::format("{}/{}/{}", each.name, to_string(shape), index));
}

RowMaker row_maker(const Case& each, std::size_t index, const Shape2& shape, DType dtype) {
  const Input& input = each.inputs[index];
  const Shape stored = stored_shape(input, shape);
  const std::int64_t rows = stored.numel() / stored.back();
  return {input_seed(each, index, shape), input.values, dtype, rows, stored.back(),
          period_of(rows, stored.back())};
}

// Distinct rows come from the host; the others are copied within the device.
void make_through_staging(const RowMaker& maker, void* to, Device& device, ThreadPool& threads) {
  auto* data = static_cast<std::byte*>(to);
  const std::size_t bytes = static_cast<std::size_t>(maker.rows) * maker.row_bytes();
  std::size_t filled = static_cast<std::size_t>(maker.period) * maker.row_bytes();
  const StoragePtr staging = host_memory(static_cast<std::int64_t>(filled));
  maker.make(0, maker.period, staging->data(), threads);
  device.copy_from_host(data, staging->data(), filled);
  while (filled < bytes) {
    const std::size_t more = std::min(filled, bytes - filled);
    device.copy(data + filled, data, more);
    filled += more;
  }
}

template <typename T>
double rounded_to(float x) {
  if constexpr (std::is_same_v<T, double>)
    return x;
  else
    return static_cast<float>(static_cast<T>(x));
}

template <typename T>
void round_all(std::span<const float> from, std::span<double> to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = rounded_to<T>(from[i]);
}

}  // namespace

std::vector<Tensor> make_inputs(const Case& each, const Shape2& shape, DType dtype,
                                const std::shared_ptr<Device>& device, ThreadPool& threads) {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < each.inputs.size(); ++i) {
    const RowMaker maker = row_maker(each, i, shape, dtype);
    const StoragePtr storage =
        device->allocate(static_cast<std::size_t>(maker.rows) * maker.row_bytes());
    if (device->shares_host_memory())
      maker.make(0, maker.rows, storage->data(), threads);
    else
      make_through_staging(maker, storage->data(), *device, threads);
    tensors.push_back(
        make_tensor(dtype, dense_view(stored_shape(each.inputs[i], shape)), storage, device));
  }
  return tensors;
}

InputRows::InputRows(const Case& each, std::size_t index, const Shape2& shape, DType dtype)
    : input_(each.inputs[index]), seed_(input_seed(each, index, shape)), dtype_(dtype) {
  const RowMaker maker = row_maker(each, index, shape, dtype);
  stored_cols_ = maker.cols;
  period_ = maker.period;
  SINTER_ASSERT(input_.layout != Layout::transposed || input_.values == Values::normal,
                "a column alone does not say what is in it");
}

void InputRows::read(std::int64_t row, std::span<double> values) const {
  std::vector<float> made(values.size());
  if (input_.layout == Layout::transposed) {
    for (std::size_t c = 0; c < made.size(); ++c)
      fill_normal(seed_, static_cast<std::int64_t>(c) % period_ * stored_cols_ + row,
                  std::span(&made[c], 1));
  } else {
    fill_normal(seed_, input_.layout == Layout::vector ? 0 : row % period_ * stored_cols_, made);
    shape_row(input_.values, made);
  }
  switch (dtype_) {
    case DType::f16:
      return round_all<Half>(made, values);
    case DType::bf16:
      return round_all<BFloat16>(made, values);
    default:
      return round_all<float>(made, values);
  }
}

std::int64_t input_staging_bytes(const Case& each, const Shape2& shape, DType dtype,
                                 const Device& device) {
  std::int64_t most = 0;
  if (device.shares_host_memory()) return most;
  for (std::size_t i = 0; i < each.inputs.size(); ++i) {
    const RowMaker maker = row_maker(each, i, shape, dtype);
    most = std::max(most, maker.period * static_cast<std::int64_t>(maker.row_bytes()));
  }
  return most;
}

std::vector<TensorSpec> input_specs(const Case& each, const Shape2& shape, DType dtype) {
  std::vector<TensorSpec> specs;
  for (const Input& input : each.inputs)
    specs.push_back({dtype, stored_shape(input, shape), name_of(input.values), row_axis(input)});
  return specs;
}

std::vector<TensorSpec> output_specs(const Case& each, const Shape2& shape, DType dtype) {
  std::vector<TensorSpec> specs;
  for (const Output output : each.outputs)
    specs.push_back({dtype,
                     output == Output::matrix ? Shape{shape.rows, shape.cols} : Shape{shape.rows},
                     {},
                     0});
  return specs;
}

std::vector<Tensor> unbacked_inputs(const Case& each, const Shape2& shape, DType dtype,
                                    const std::shared_ptr<Device>& device) {
  return unbacked_inputs(input_specs(each, shape, dtype), device);
}

}  // namespace sinter::suite
