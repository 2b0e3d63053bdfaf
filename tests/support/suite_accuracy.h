// One of the suite's cases through the API on a device, against the suite's f64 reference.
// In: a case, a shape, a dtype, a device. Out: a failure if the result exceeds its tolerance.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sinter/compile.h>

#include <memory>
#include <ostream>
#include <vector>

#include "src/suite/cases/case.h"
#include "src/suite/cases/inputs.h"
#include "src/suite/measure/accuracy.h"

namespace sinter::suite {

inline void PrintTo(const Case& each, std::ostream* out) { *out << each.name; }

inline void expect_accurate(const Case& each, const Shape2& shape, DType dtype,
                            const std::shared_ptr<Device>& device) {
  SCOPED_TRACE(fmt::format("{} {}x{} {}", each.name, shape.rows, shape.cols, name_of(dtype)));
  ThreadPool threads(1);
  const auto inputs = make_inputs(each, shape, dtype, device, threads);
  const CompiledFunction function =
      compile_list(each.program, static_cast<int>(each.inputs.size()), {.name = each.name});
  const std::vector<std::vector<Tensor>> outputs{function.call(inputs)};
  EXPECT_EQ(outputs[0][0].device(), device->name());
  const Accuracy found = check_outputs(each, shape, inputs, outputs, threads)[0];
  EXPECT_LE(found.max_rel_err, tolerance(each, dtype, found.rms));
}

}  // namespace sinter::suite
