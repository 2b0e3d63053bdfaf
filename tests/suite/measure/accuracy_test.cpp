// The accuracy check: finds wrong elements wherever they are, and never ignores NaN.
#include "src/suite/measure/accuracy.h"

#include <gtest/gtest.h>
#include <sinter/compile.h>
#include <sinter/device.h>

#include <cmath>
#include <limits>

#include "src/runtime/registry.h"
#include "src/suite/cases/inputs.h"
#include "src/suite/cases/normal.h"

namespace sinter::suite {
namespace {

class AccuracyTest : public ::testing::Test {
 protected:
  AccuracyTest() {
    devices();
    inputs_ = make_inputs(each_, kShape, DType::f32, find_device("cpu"), threads_);
    result_ = compile_list(each_.program, 1).call(inputs_)[0].to_vector<float>();
  }

  Accuracy check() {
    const Tensor result = from_vector(result_, {kShape.rows, kShape.cols});
    const std::vector<std::vector<Tensor>> outputs{{result}};
    return check_outputs(each_, kShape, inputs_, outputs, threads_)[0];
  }

  static constexpr Shape2 kShape{19, 23};
  const Case& each_ = find_case("softmax");
  ThreadPool threads_{2};
  std::vector<Tensor> inputs_;
  std::vector<float> result_;
};

TEST_F(AccuracyTest, ChecksEveryElement) {
  EXPECT_EQ(check().checked_elements, kShape.numel());
  EXPECT_LT(check().max_rel_err, 1e-6);
  for (std::size_t i = 0; i < result_.size(); ++i) {
    const float right = result_[i];
    result_[i] += 1;
    EXPECT_NEAR(check().max_abs_err, 1, 1e-5) << i;
    EXPECT_GT(check().max_rel_err, 1) << i;
    result_[i] = right;
  }
}

TEST_F(AccuracyTest, FindsNan) {
  result_[5] = std::numeric_limits<float>::quiet_NaN();
  result_[100] += 1;
  const Accuracy found = check();
  EXPECT_TRUE(std::isnan(found.max_rel_err));
  EXPECT_FALSE(found.max_rel_err <= 1e9);
}

TEST_F(AccuracyTest, FindsInfinity) {
  result_[5] = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isinf(check().max_rel_err));
}

TEST(Accuracy, LargeShapesAreSampledByWholeRows) {
  devices();
  ThreadPool threads(2);
  const Shape2 shape{200, 262'145};  // more than 2^24 elements
  const Case& each = find_case("h_red_red");
  const auto inputs = make_inputs(each, shape, DType::f16, find_device("cpu"), threads);
  const std::vector<std::vector<Tensor>> outputs{compile_list(each.program, 1).call(inputs)};
  const Accuracy found = check_outputs(each, shape, inputs, outputs, threads)[0];
  EXPECT_EQ(found.checked_elements, 2 * 64);
  EXPECT_LE(found.max_rel_err, 1e-3);
}

TEST(Normal, HasTheRightMomentsAndTails) {
  std::vector<float> values(1 << 20);
  fill_normal(seed_of("test"), 0, values);
  double sum = 0;
  double squares = 0;
  double fourth = 0;
  int beyond_two = 0;
  for (double x : values) {
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
    beyond_two += std::fabs(x) > 2;
  }
  const auto count = static_cast<double>(values.size());
  EXPECT_NEAR(sum / count, 0, 0.005);
  EXPECT_NEAR(squares / count, 1, 0.01);
  EXPECT_NEAR(fourth / count, 3, 0.1);
  EXPECT_NEAR(beyond_two / count, 0.0455, 0.002);
}

TEST(Normal, PartsAreThoseOfTheWhole) {
  std::vector<float> whole(1000);
  fill_normal(7, 0, whole);
  for (std::int64_t first : {0, 1, 2, 501}) {
    std::vector<float> part(100);
    fill_normal(7, first, part);
    for (std::size_t i = 0; i < part.size(); ++i)
      EXPECT_EQ(part[i], whole[static_cast<std::size_t>(first) + i]);
  }
}

}  // namespace
}  // namespace sinter::suite
