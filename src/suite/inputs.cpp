// Rows are made in parallel, in float, and rounded to the type asked for.
#include "src/suite/inputs.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <memory>

#include "src/api/tensor_impl.h"
#include "src/base/check.h"
#include "src/suite/normal.h"

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

// What one input holds, row by row of how it lies in memory.
struct RowMaker {
  std::uint64_t seed;
  Values values;
  DType dtype;
  std::int64_t rows;
  std::int64_t cols;

  std::size_t row_bytes() const { return static_cast<std::size_t>(cols) * size_of(dtype); }

  void make(std::int64_t first, std::int64_t last, void* to, ThreadPool& threads) const {
    threads.parallel_for(last - first, 0, [&](std::int64_t begin, std::int64_t end, char*) {
      std::vector<float> row(static_cast<std::size_t>(cols));
      for (std::int64_t r = begin; r < end; ++r) {
        fill_normal(seed, (first + r) * cols, row);
        shape_row(values, row);
        store_row(dtype, row, to, r * cols);
      }
    });
  }
};

RowMaker row_maker(const Case& each, std::size_t index, const Shape2& shape, DType dtype) {
  const Input& input = each.inputs[index];
  const Shape stored = stored_shape(input, shape);
  return {seed_of(fmt::format("{}/{}/{}", each.name, to_string(shape), index)), input.values, dtype,
          stored.numel() / stored.back(), stored.back()};
}

// Rows that are made and copied at once.
constexpr std::size_t kStagingBytes = std::size_t{64} << 20;

std::int64_t staged_rows(const RowMaker& maker) {
  const auto fitting = static_cast<std::int64_t>(kStagingBytes / maker.row_bytes());
  return std::clamp(fitting, std::int64_t{1}, maker.rows);
}

void make_through_staging(const RowMaker& maker, void* to, Device& device, ThreadPool& threads) {
  const std::int64_t step = staged_rows(maker);
  const auto staging = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(step) *
                                                                   maker.row_bytes());
  for (std::int64_t first = 0; first < maker.rows; first += step) {
    const std::int64_t last = std::min(first + step, maker.rows);
    maker.make(first, last, staging.get(), threads);
    device.copy_from_host(
        static_cast<std::byte*>(to) + static_cast<std::size_t>(first) * maker.row_bytes(),
        staging.get(), static_cast<std::size_t>(last - first) * maker.row_bytes());
  }
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

std::int64_t input_staging_bytes(const Case& each, const Shape2& shape, DType dtype,
                                 const Device& device) {
  std::int64_t most = 0;
  if (device.shares_host_memory()) return most;
  for (std::size_t i = 0; i < each.inputs.size(); ++i) {
    const RowMaker maker = row_maker(each, i, shape, dtype);
    most = std::max(most, staged_rows(maker) * static_cast<std::int64_t>(maker.row_bytes()));
  }
  return most;
}

std::vector<Tensor> unbacked_inputs(const Case& each, const Shape2& shape, DType dtype,
                                    const std::shared_ptr<Device>& device) {
  std::vector<Tensor> tensors;
  for (const Input& input : each.inputs) {
    const Shape stored = stored_shape(input, shape);
    const std::size_t bytes = static_cast<std::size_t>(stored.numel()) * size_of(dtype);
    void* data =
        mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED)
      throw DeviceError(fmt::format("[suite] no addresses for {} bytes", bytes), "mmap", errno);
    const std::shared_ptr<void> owner(data, [bytes](void* p) { munmap(p, bytes); });
    tensors.push_back(from_memory(data, stored, row_major(stored), dtype, owner, device->name()));
  }
  return tensors;
}

}  // namespace sinter::suite
