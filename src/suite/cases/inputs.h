// Input tensors of a case: pseudo-random, the same for a case, shape and dtype in every run. In: a
// case, a shape, a dtype. Out: tensors in device memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/cpu/thread_pool.h"
#include "src/runtime/device.h"
#include "src/suite/cases/case.h"
#include "src/suite/cases/tensor_spec.h"

namespace sinter::suite {

// Generated on the host by `threads`; copied to a device that does not share host memory through a
// buffer of input_staging_bytes(). Large tensors hold about 2^22 random elements, repeated with a
// period of an odd number of rows, so that reading a row at a wrong power-of-two distance is
// detected. DeviceError if they do not fit into memory.
std::vector<Tensor> make_inputs(const Case& each, const Shape2& shape, DType dtype,
                                const std::shared_ptr<Device>& device, ThreadPool& threads);

// The rows of one input as make_inputs() generates them, without the tensor. A transposed input's
// rows are its columns.
class InputRows {
 public:
  InputRows(const Case& each, std::size_t index, const Shape2& shape, DType dtype);
  void read(std::int64_t row, std::span<double> values) const;  // shape.cols values

 private:
  const Input& input_;
  std::uint64_t seed_;
  DType dtype_;
  std::int64_t stored_cols_;
  std::int64_t period_;
};

// Host memory needed besides the tensors.
std::int64_t input_staging_bytes(const Case& each, const Shape2& shape, DType dtype,
                                 const Device& device);

// For peers. Outputs have no values.
std::vector<TensorSpec> input_specs(const Case& each, const Shape2& shape, DType dtype);
std::vector<TensorSpec> output_specs(const Case& each, const Shape2& shape, DType dtype);

// For compiling only: addresses not backed by memory, so that any shape can be inspected.
std::vector<Tensor> unbacked_inputs(const Case& each, const Shape2& shape, DType dtype,
                                    const std::shared_ptr<Device>& device);

}  // namespace sinter::suite
