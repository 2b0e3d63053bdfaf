// The suite's cases through the API on the simt device: the plans, configs and kernels that a GPU
// gets, at odd shapes, against the suite's f64 references.
#include <gtest/gtest.h>
#include <sinter/compile.h>

#include "src/base/check.h"
#include "src/suite/accuracy.h"
#include "src/suite/case.h"
#include "src/suite/inputs.h"
#include "tests/simt/kernel_text.h"

namespace sinter::suite {

void PrintTo(const Case& each, std::ostream* out) { *out << each.name; }

namespace {

const std::shared_ptr<Device>& shared_device() {
  static const std::shared_ptr<Device>& device =
      *new std::shared_ptr<Device>(make_simt_device(simt_device_options(environment_options())));
  return device;
}

void expect_accurate(const Case& each, const Shape2& shape, DType dtype) {
  SCOPED_TRACE(fmt::format("{} {}x{} {}", each.name, shape.rows, shape.cols, name_of(dtype)));
  ThreadPool threads(1);
  const auto inputs = make_inputs(each, shape, dtype, shared_device(), threads);
  const CompiledFunction function =
      compile_list(each.program, static_cast<int>(each.inputs.size()), {.name = each.name});
  const std::vector<std::vector<Tensor>> outputs{function.call(inputs)};
  EXPECT_EQ(outputs[0][0].device(), "simt");
  const Accuracy found = check_outputs(each, shape, inputs, outputs, threads)[0];
  EXPECT_LE(found.max_rel_err, tolerance(each, dtype, found.rms));
}

class SimtSuiteCase : public testing::TestWithParam<Case> {};

TEST_P(SimtSuiteCase, IsAccurateAtOddShapes) {
  expect_accurate(GetParam(), {7, 129}, DType::f32);
  expect_accurate(GetParam(), {33, 64}, DType::f16);
  expect_accurate(GetParam(), {2, 9000}, DType::bf16);
}

INSTANTIATE_TEST_SUITE_P(Cases, SimtSuiteCase, testing::ValuesIn(all_cases()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace sinter::suite
