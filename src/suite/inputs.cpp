// Rows are made in parallel, in float, and rounded to the type asked for.
#include "src/suite/inputs.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <memory>

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

Tensor tensor_over(void* data, const Shape& shape, DType dtype, std::shared_ptr<void> owner) {
  const Strides strides = shape.rank() == 1 ? Strides{1} : Strides{shape[1], 1};
  return from_memory(data, shape, strides, dtype, std::move(owner));
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

}  // namespace

std::vector<Tensor> make_inputs(const Case& each, const Shape2& shape, DType dtype, Device& device,
                                ThreadPool& threads) {
  std::vector<Tensor> tensors;
  for (const Input& input : each.inputs) {
    const std::uint64_t seed =
        seed_of(fmt::format("{}/{}/{}", each.name, to_string(shape), tensors.size()));
    const Shape stored = stored_shape(input, shape);
    const std::int64_t cols = stored.back();
    const std::int64_t rows = stored.numel() / cols;
    const StoragePtr storage =
        device.allocate(static_cast<std::size_t>(stored.numel()) * size_of(dtype));
    threads.parallel_for(rows, 0, [&](std::int64_t first, std::int64_t last, char*) {
      std::vector<float> row(static_cast<std::size_t>(cols));
      for (std::int64_t r = first; r < last; ++r) {
        fill_normal(seed, r * cols, row);
        shape_row(input.values, row);
        store_row(dtype, row, storage->data(), r * cols);
      }
    });
    tensors.push_back(tensor_over(storage->data(), stored, dtype, storage));
  }
  return tensors;
}

std::vector<Tensor> unbacked_inputs(const Case& each, const Shape2& shape, DType dtype) {
  std::vector<Tensor> tensors;
  for (const Input& input : each.inputs) {
    const Shape stored = stored_shape(input, shape);
    const std::size_t bytes = static_cast<std::size_t>(stored.numel()) * size_of(dtype);
    void* data =
        mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED)
      throw DeviceError(fmt::format("[suite] no addresses for {} bytes", bytes), "mmap", errno);
    const std::shared_ptr<void> owner(data, [bytes](void* p) { munmap(p, bytes); });
    tensors.push_back(tensor_over(data, stored, dtype, owner));
  }
  return tensors;
}

}  // namespace sinter::suite
