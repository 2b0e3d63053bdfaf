// The reference of matrix products on values worked out by hand, the bounds it states, and the text
// of random programs.
#include "tests/fuzz/reference.h"

#include <gtest/gtest.h>

#include <string>

namespace sinter::fuzz {
namespace {

Reference reference(DType dtype, const Shape& shape, const std::vector<double>& values) {
  Reference result{dtype, shape, {}};
  for (double value : values) result.elements.push_back(Bounded::real(value));
  return result;
}

void expect_exactly(const Reference& got, const Shape& shape, const std::vector<double>& values) {
  EXPECT_EQ(got.shape, shape);
  ASSERT_EQ(got.elements.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(got.elements[i].value, values[i]) << i;
    EXPECT_EQ(got.elements[i].error, 0) << i;
  }
}

TEST(MatmulReference, MultipliesMatricesVectorsAndBatches) {
  const Reference a = reference(DType::f16, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Reference b = reference(DType::f16, {3, 2}, {1, 0, 0, 1, 2, 2});
  const Reference x = reference(DType::f16, {3}, {1, -1, 2});
  expect_exactly(multiply(a, b), {2, 2}, {7, 8, 16, 17});
  expect_exactly(multiply(a, transposed(a)), {2, 2}, {14, 32, 32, 77});
  expect_exactly(multiply(a, x), {2}, {5, 11});
  expect_exactly(multiply(x, b), {2}, {5, 3});
  expect_exactly(multiply(x, x), {}, {6});
  const Reference two = reference(DType::f16, {2, 1, 3}, {1, 2, 3, 4, 5, 6});
  expect_exactly(multiply(two, b), {2, 1, 2}, {7, 8, 16, 17});
}

// Every product of 16-bit floats is an f32 number.
TEST(MatmulReference, BoundsHaveNoRoundingOf16BitProducts) {
  const double third = Scalar::of(1.0 / 3).as(DType::bf16).real;
  const Reference narrow = reference(DType::bf16, {1}, {third});
  const Reference wide = reference(DType::f32, {1}, {Scalar::of(1.0 / 3).as(DType::f32).real});
  EXPECT_EQ(multiply(cast_to(narrow, DType::f32), narrow).elements[0].error, 0);
  EXPECT_GT(multiply(narrow, narrow).elements[0].error, 0) << "rounded when stored";
  EXPECT_GT(multiply(wide, wide).elements[0].error, 0);
  EXPECT_LT(multiply(wide, wide).elements[0].error, 1e-6);
}

// Whether it overflows depends on whether the product is rounded before it is added.
TEST(MatmulReference, ProductsThatOverflowAreUnknown) {
  const Reference a = reference(DType::f32, {2}, {3e38, -3e38});
  const Reference b = reference(DType::f32, {2}, {2, 2});
  EXPECT_FALSE(multiply(a, b).elements[0].known());
}

TEST(MatmulReference, ThereIsNoProductOfOtherShapes) {
  EXPECT_TRUE(matmul_sizes({4, 1, 2, 3}, {5, 3, 7}));
  EXPECT_FALSE(matmul_sizes({2, 3}, {2, 3}));
  EXPECT_FALSE(matmul_sizes({2, 2, 3}, {3, 3, 2}));
  EXPECT_FALSE(matmul_sizes({}, {3}));
}

TEST(MatmulReference, TheTextOfAStepNamesTransposedOperands) {
  RandomProgram program;
  program.inputs.resize(2);
  Step step;
  step.kind = StepKind::matmul;
  step.args = {{0}, {1}};
  step.axes = {1};
  program.steps = {step};
  program.outputs = {2};
  EXPECT_NE(to_string(program).find("v2 = matmul(v0, transpose(v1, -2, -1));"), std::string::npos);
}

TEST(RandomProgramText, NamesTheNumbersOfACall) {
  RandomProgram program;
  program.inputs.resize(1);
  program.numbers = {{Number(0.5), Number(2.0)}, {Number(3), Number(3)}};
  Step step;
  step.op = Op::fma;
  step.args = {{0}, {-1, 0.5, true, 0}, {-1, 3, false, 1}};
  program.steps = {step};
  program.outputs = {1};
  const std::string text = to_string(program);
  EXPECT_NE(text.find("n0 = Number(0.5)  // traced with 2."), std::string::npos) << text;
  EXPECT_NE(text.find("v1 = fma(v0, n0, n1);"), std::string::npos) << text;
}

}  // namespace
}  // namespace sinter::fuzz
