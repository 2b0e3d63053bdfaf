// The suite's cases through the API on the simt device: the plans, configs and kernels that a GPU
// gets, at odd shapes, against the suite's f64 references.
#include <gtest/gtest.h>

#include "tests/simt/kernel_text.h"
#include "tests/support/suite_accuracy.h"

namespace sinter::suite {
namespace {

const std::shared_ptr<Device>& shared_device() {
  static const std::shared_ptr<Device>& device =
      *new std::shared_ptr<Device>(make_simt_device(simt_device_options(environment_options())));
  return device;
}

class SimtSuiteCase : public testing::TestWithParam<Case> {};

TEST_P(SimtSuiteCase, IsAccurateAtOddShapes) {
  expect_accurate(GetParam(), {7, 129}, DType::f32, shared_device());
  expect_accurate(GetParam(), {33, 64}, DType::f16, shared_device());
  expect_accurate(GetParam(), {2, 9000}, DType::bf16, shared_device());
}

// Rows longer than a cluster can share, split over blocks: intermediates between kernels are not
// rounded to the 16-bit type.
TEST_P(SimtSuiteCase, IsAccurateWhereRowsAreSplit) {
  expect_accurate(GetParam(), {1, 300000}, DType::bf16, shared_device());
  expect_accurate(GetParam(), {1, 131101}, DType::f16, shared_device());
}

INSTANTIATE_TEST_SUITE_P(Cases, SimtSuiteCase, testing::ValuesIn(all_cases()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace sinter::suite
