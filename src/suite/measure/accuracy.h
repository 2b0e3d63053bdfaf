// Errors of results against a reference in double. In: a case's inputs and the outputs of one or
// more providers. Out: errors per provider.
#pragma once

#include <span>
#include <vector>

#include "src/cpu/thread_pool.h"
#include "src/runtime/device.h"
#include "src/suite/cases/case.h"

namespace sinter::suite {

struct Accuracy {
  double max_abs_err = 0;
  // The largest |error| / max(|reference|, rms of the reference): relative for values of typical
  // size, without dividing by values that cancelled to nearly zero. The rms is over the checked
  // elements of the same output. NaN if a result is NaN where the reference is not.
  double max_rel_err = 0;
  std::int64_t checked_elements = 0;  // over all outputs
  double rms = 0;                     // of the reference; the smallest over all outputs
};

// Checks all elements up to 2^24, beyond that evenly spaced whole rows, at least 64. From a device
// that does not share host memory, only these rows are copied. `inputs` must come from
// make_inputs().
std::vector<Accuracy> check_outputs(const Case& each, const Shape2& shape,
                                    std::span<const Tensor> inputs,
                                    std::span<const std::vector<Tensor>> outputs,
                                    ThreadPool& threads);

// Approximate host memory needed.
std::int64_t check_bytes(const Case& each, const Shape2& shape, DType dtype, const Device& device);

}  // namespace sinter::suite
