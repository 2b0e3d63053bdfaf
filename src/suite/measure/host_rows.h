// HostRows: some rows of a tensor where the host can read them: in place, or fetched from the
// device that holds them. In: a tensor and which rows. Out: their elements in double.
#pragma once

#include <sinter/tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "src/runtime/device.h"

namespace sinter::suite {

// Memory of the host, for a while. Of the CPU's pool: the next that is as large needs no new pages,
// whose making takes longer than most of what is done with them.
StoragePtr host_memory(std::int64_t bytes);

// How (row, col) of a matrix lies in a tensor's memory, in elements.
struct RowLayout {
  std::int64_t cols = 1;
  std::int64_t row_stride = 0;
  std::int64_t col_stride = 0;
};

class HostRows {
 public:
  // `rows` ascend, and outlive this. Fetched through a buffer of about 64 MiB, whatever the
  // tensor's size; of a transposed one everything between its first and last row goes through it.
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
  std::int64_t element_;  // bytes
  RowLayout layout_;
  std::span<const std::int64_t> rows_;
  const void* data_;    // of row 0, or of rows_[0] if fetched
  StoragePtr fetched_;  // (rows_, cols) without gaps
};

}  // namespace sinter::suite
