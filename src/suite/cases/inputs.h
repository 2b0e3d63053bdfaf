// The tensors a case is run with: random, but the same for a case, shape and type in every run.
// In: a case, a shape, a type. Out: tensors in the device's own memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/cpu/thread_pool.h"
#include "src/runtime/device.h"
#include "src/suite/cases/case.h"

namespace sinter::suite {

// Made on the host by `threads`; copied to a device that does not share its memory through a buffer
// of input_staging_bytes(). Of a large tensor's rows some 2^22 elements are random, and then come
// again, an odd number of rows later: a kernel that takes a row some power of two away is found
// out. DeviceError where they do not fit into memory.
std::vector<Tensor> make_inputs(const Case& each, const Shape2& shape, DType dtype,
                                const std::shared_ptr<Device>& device, ThreadPool& threads);

// What make_inputs() puts into the rows of one input of the program, without the tensor: a
// transposed input's rows are its columns.
class InputRows {
 public:
  InputRows(const Case& each, std::size_t index, const Shape2& shape, DType dtype);
  void read(std::int64_t row, std::span<double> values) const;  // shape.cols of them

 private:
  const Input& input_;
  std::uint64_t seed_;
  DType dtype_;
  std::int64_t stored_cols_;
  std::int64_t period_;
};

// Of host memory, besides the tensors.
std::int64_t input_staging_bytes(const Case& each, const Shape2& shape, DType dtype,
                                 const Device& device);

// For compiling only: addresses without memory behind them, so that any shape can be looked at.
std::vector<Tensor> unbacked_inputs(const Case& each, const Shape2& shape, DType dtype,
                                    const std::shared_ptr<Device>& device);

}  // namespace sinter::suite
