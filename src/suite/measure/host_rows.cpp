// Uses a few large copies instead of many small ones: nearby rows are copied together with the gap
// between them.
#include "src/suite/measure/host_rows.h"

#include <algorithm>
#include <cstring>

#include "src/api/devices.h"
#include "src/api/tensor_impl.h"

namespace sinter::suite {
namespace {

constexpr std::int64_t kStagingBytes = std::int64_t{64} << 20;
// Starting a copy takes about 10 us, roughly as long as copying this many bytes.
constexpr std::int64_t kWorthReading = std::int64_t{64} << 10;

// A chunk of device memory on the host. Reuses its buffer between chunks.
class Staging {
 public:
  explicit Staging(Device& device) : device_(device) {}

  const std::byte* fetch(const std::byte* from, std::int64_t bytes) {
    if (bytes > capacity_) {
      buffer_ = host_memory(bytes);
      capacity_ = bytes;
    }
    device_.copy_to_host(buffer_->data(), from, static_cast<std::size_t>(bytes));
    return static_cast<const std::byte*>(buffer_->data());
  }

 private:
  Device& device_;
  std::int64_t capacity_ = 0;
  StoragePtr buffer_;
};

}  // namespace

StoragePtr host_memory(std::int64_t bytes) {
  return open_device("cpu")->allocate(static_cast<std::size_t>(bytes));
}

HostRows::HostRows(const Tensor& tensor, const RowLayout& layout,
                   std::span<const std::int64_t> rows)
    : dtype_(tensor.dtype()),
      element_(static_cast<std::int64_t>(size_of(tensor.dtype()))),
      layout_(layout),
      rows_(rows),
      data_(tensor.data()) {
  if (!tensor.impl()->device->shares_host_memory()) fetch(tensor);
}

void HostRows::fetch(const Tensor& tensor) {
  const auto* from = static_cast<const std::byte*>(tensor.data());
  Device& device = *tensor.impl()->device;
  const std::size_t rows = layout_.row_stride == 0 ? 1 : rows_.size();
  fetched_ = host_memory(static_cast<std::int64_t>(rows) * layout_.cols * element_);
  if (layout_.row_stride == 0)
    device.copy_to_host(fetched_->data(), from, static_cast<std::size_t>(layout_.cols * element_));
  else if (layout_.col_stride == 1 || layout_.cols == 1)
    fetch_rows(from, device);
  else
    fetch_columns(from, device);
  data_ = fetched_->data();
  layout_.row_stride = layout_.row_stride == 0 ? 0 : layout_.cols;
  layout_.col_stride = 1;
}

std::byte* HostRows::fetched(std::size_t row, std::int64_t col) const {
  return static_cast<std::byte*>(fetched_->data()) +
         (static_cast<std::int64_t>(row) * layout_.cols + col) * element_;
}

void HostRows::fetch_rows(const std::byte* from, Device& device) {
  Staging staging(device);
  const std::int64_t row_bytes = layout_.cols * element_;
  const auto begin_of = [&](std::size_t i) { return rows_[i] * layout_.row_stride * element_; };
  for (std::size_t first = 0; first < rows_.size();) {
    std::size_t last = first + 1;
    while (last < rows_.size() &&
           begin_of(last) - begin_of(last - 1) <= kWorthReading + row_bytes &&
           begin_of(last) + row_bytes - begin_of(first) <= kStagingBytes)
      ++last;
    const std::int64_t bytes = begin_of(last - 1) + row_bytes - begin_of(first);
    if (bytes == static_cast<std::int64_t>(last - first) * row_bytes) {  // contiguous
      device.copy_to_host(fetched(first, 0), from + begin_of(first),
                          static_cast<std::size_t>(bytes));
      first = last;
      continue;
    }
    const std::byte* piece = staging.fetch(from + begin_of(first), bytes);
    for (std::size_t i = first; i < last; ++i)
      std::memcpy(fetched(i, 0), piece + begin_of(i) - begin_of(first),
                  static_cast<std::size_t>(row_bytes));
    first = last;
  }
}

void HostRows::fetch_columns(const std::byte* from, Device& device) {
  Staging staging(device);
  const std::int64_t first_row = rows_.front() * layout_.row_stride * element_;
  const std::int64_t spread = (rows_.back() - rows_.front()) * layout_.row_stride * element_;
  const std::int64_t step = layout_.col_stride * element_;
  const std::int64_t at_once = std::max<std::int64_t>((kStagingBytes - spread) / step, 1);
  for (std::int64_t first = 0; first < layout_.cols; first += at_once) {
    const std::int64_t last = std::min(first + at_once, layout_.cols);
    const std::byte* piece = staging.fetch(from + first * step + first_row,
                                           (last - first - 1) * step + spread + element_);
    for (std::int64_t col = first; col < last; ++col)
      for (std::size_t i = 0; i < rows_.size(); ++i)
        std::memcpy(fetched(i, col),
                    piece + (col - first) * step +
                        (rows_[i] - rows_.front()) * layout_.row_stride * element_,
                    static_cast<std::size_t>(element_));
  }
}

template <typename T>
void HostRows::read_as(std::int64_t row, std::span<double> values) const {
  const T* from = static_cast<const T*>(data_) + row * layout_.row_stride;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T& value = from[static_cast<std::int64_t>(i) * layout_.col_stride];
    if constexpr (std::is_same_v<T, double>)
      values[i] = value;
    else
      values[i] = static_cast<float>(value);
  }
}

void HostRows::read(std::int64_t i, std::span<double> values) const {
  const std::int64_t row = fetched_ ? i : rows_[static_cast<std::size_t>(i)];
  switch (dtype_) {
    case DType::f16:
      return read_as<Half>(row, values);
    case DType::bf16:
      return read_as<BFloat16>(row, values);
    case DType::f64:
      return read_as<double>(row, values);
    default:
      return read_as<float>(row, values);
  }
}

}  // namespace sinter::suite
