// HostRows: some rows of a tensor, readable by the host: in place, or copied from the device. In: a
// tensor and row indices. Out: their elements in double.
#pragma once

#include <sinter/tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "src/runtime/device.h"

namespace sinter::suite {

// Temporary host memory from the CPU's pool, which avoids page faults: these would take longer than
// most uses of the memory.
StoragePtr host_memory(std::int64_t bytes);

// Memory layout of (row, col) in a tensor, in elements.
struct RowLayout {
  std::int64_t cols = 1;
  std::int64_t row_stride = 0;
  std::int64_t col_stride = 0;
};

class HostRows {
 public:
  // `rows` are ascending and outlive this. Copies through a buffer of about 64 MiB, whatever the
  // tensor's size; for a transposed tensor, it copies everything between the first and the last
  // row.
  HostRows(const Tensor& tensor, const RowLayout& layout, std::span<const std::int64_t> rows);

  // rows[i], layout.cols values.
  void read(std::int64_t i, std::span<double> values) const;

 private:
  template <typename T>
  void read_as(std::int64_t row, std::span<double> values) const;
  void fetch(const Tensor& tensor);
  void fetch_rows(const std::byte* from, Device& device);
  void fetch_columns(const std::byte* from, Device& device);
  std::byte* fetched(std::size_t row, std::int64_t col) const;

  DType dtype_;
  std::int64_t element_;  // bytes per element
  RowLayout layout_;
  std::span<const std::int64_t> rows_;
  const void* data_;    // of row 0, or of rows_[0] if copied
  StoragePtr fetched_;  // (rows_, cols), contiguous
};

}  // namespace sinter::suite
