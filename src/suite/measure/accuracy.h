// How far results are from the reference in double.
// In: a case's inputs and the outputs of one or more providers. Out: errors for each provider.
#pragma once

#include <span>
#include <vector>

#include "src/cpu/thread_pool.h"
#include "src/runtime/device.h"
#include "src/suite/cases/case.h"

namespace sinter::suite {

struct Accuracy {
  double max_abs_err = 0;
  // The largest |error| / max(|reference|, rms of the reference): relative where a value is of the
  // result's usual size, and no division by values that cancelled to nearly zero. The rms is that
  // of the checked elements of the same output. NaN where a result is, and the reference is not.
  double max_rel_err = 0;
  std::int64_t checked_elements = 0;  // of all outputs together
  double rms = 0;                     // of the reference, the smallest of all outputs
};

// All elements of up to 2^24, else evenly spread whole rows, 64 at least. Of a device that does not
// share the host's memory no more than those rows are kept at once. `inputs` are make_inputs()'s.
std::vector<Accuracy> check_outputs(const Case& each, const Shape2& shape,
                                    std::span<const Tensor> inputs,
                                    std::span<const std::vector<Tensor>> outputs,
                                    ThreadPool& threads);

// Of host memory that it takes, about.
std::int64_t check_bytes(const Case& each, const Shape2& shape, DType dtype, const Device& device);

}  // namespace sinter::suite
