// save() and load_program(): the same results, shapes that follow from inputs, and clear errors.
#include <gtest/gtest.h>
#include <sinter/sinter.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/errors.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

class ProgramFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = ::testing::TempDir() + "program-" + std::to_string(getpid()) + ".sinter";
  }
  void TearDown() override { std::filesystem::remove(path_); }

  void write(const std::string& text) const { std::ofstream(path_) << text; }
  static std::vector<Tensor> call(const CompiledFunction& function,
                                  const std::vector<Tensor>& inputs) {
    return function.call(inputs);
  }

  std::string path_;
};

TEST_F(ProgramFileTest, ASavedProgramGivesTheSameBits) {
  const auto norm = compile([](const Tensor& x, const Tensor& w) {
    return std::pair(layer_norm(x, w), softmax(transpose(x, 0, 1)) * 0.1);
  });
  const Tensor x = random_tensor(DType::f32, {33, 65});
  const Tensor w = random_tensor(DType::f32, {65});
  norm.save(path_, std::vector{x, w});
  const auto [a, b] = norm(x, w);
  const std::vector<Tensor> loaded = call(load_program(path_), {x, w});
  ASSERT_EQ(loaded.size(), 2u);
  EXPECT_EQ(values_of(loaded[0]), values_of(a));
  EXPECT_EQ(values_of(loaded[1]), values_of(b));
}

TEST_F(ProgramFileTest, StridesOfInputsDoNotMatter) {
  const auto function = compile([](const Tensor& x) { return reshape(x, {-1}) + 1; });
  const Tensor x = transpose(random_tensor(DType::f32, {6, 4}), 0, 1);
  function.save(path_, std::vector{x});
  const CompiledFunction loaded = load_program(path_);
  EXPECT_EQ(values_of(call(loaded, {x})[0]), values_of(function(x)));
  EXPECT_EQ(values_of(call(loaded, {contiguous(x)})[0]), values_of(function(x)));
  const Tensor wide = slice(random_tensor(DType::f32, {4, 12}), 1, 0, 12, 2);
  EXPECT_EQ(values_of(call(loaded, {wide})[0]), values_of(function(wide)));
}

TEST_F(ProgramFileTest, SizesFollowFromTheInputs) {
  write(
      "sizes rows = 4, cols = 8\n%x: f32(rows, cols) = input\n%w: f32(cols) = input\n"
      "%y = mul %x, %w\n%s = sum %y over axis 1\nreturn %s\n");
  const CompiledFunction function = load_program(path_);
  EXPECT_EQ(function.arity(), 2);
  for (const Shape& shape : {Shape{4, 8}, Shape{3, 100}, Shape{0, 5}}) {
    const Tensor x = ones(shape);
    const Tensor w = full({shape[1]}, 2);
    EXPECT_TRUE(matches(call(function, {x, w})[0],
                        std::vector<Real>(static_cast<std::size_t>(shape[0]), 2 * shape[1])));
  }
  EXPECT_NE(error_of([&] {
              call(function, {ones({3, 5}), ones({6})});
            }).find("input %w is f32(5), got f32(6)"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              call(function, {ones({3, 5}, DType::f16), ones({5})});
            }).find("input %x is f32(3, 5), got f16(3, 5)"),
            std::string::npos);
}

TEST_F(ProgramFileTest, ALoadedProgramCanBeCalledInAnotherFunction) {
  write("%x: f32(4) = input\n%y = add %x, 1.0\nreturn %y\n");
  const CompiledFunction inner = load_program(path_);
  const auto outer = compile([&](const Tensor& x) { return inner.call(std::vector{x})[0] * 2; });
  EXPECT_TRUE(matches(outer(ones({4})), std::vector<Real>(4, 4)));
  EXPECT_EQ(outer.info(std::vector{ones({4})}).kernels, 1);
}

// An input may turn out to be a number, which no operation reads through a padded view.
TEST_F(ProgramFileTest, APaddedInputMayBeANumber) {
  write("%x: f32(4) = input\n%y = copy %x.pad(0, 0, 2)\nreturn %y\n");
  const CompiledFunction inner = load_program(path_);
  const auto outer =
      compile([&](const Tensor& x) { return inner.call(std::vector{full({4}, 2.0)})[0] + x; });
  EXPECT_TRUE(matches(outer(ones({6})), {3, 3, 3, 3, 1, 1}));
}

TEST_F(ProgramFileTest, ANumberMayBePaddedThroughAnyView) {
  write("%c: f32() = constant 2.0\n%y = add %c.reshape(1).pad(0, 0, 2), 1.0\nreturn %y\n");
  EXPECT_TRUE(matches(load_program(path_).call(std::vector<Tensor>{})[0], {3, 1, 1}));
}

TEST_F(ProgramFileTest, PaddedIntegersKeepALargeFill) {
  write(
      "%i: i64(4) = iota 0 step 1\n%y: f64 = cast %i.pad(0, 1, 1) else 1099511627776\n"
      "%b = gt %i.pad(0, 1, 1) else 1099511627776, 5\nreturn %y, %b\n");
  const std::vector<Tensor> results = load_program(path_).call(std::vector<Tensor>{});
  const double fill = 1099511627776;
  EXPECT_TRUE(matches(results[0], {fill, 0, 1, 2, 3, fill}));
  EXPECT_TRUE(matches(results[1], {1, 0, 0, 0, 0, 1}));
}

TEST_F(ProgramFileTest, MistakesAreUserErrors) {
  EXPECT_EQ(error_of([&] { load_program("/nonexistent/x.sinter"); }),
            "[load] cannot read /nonexistent/x.sinter: No such file or directory");
  EXPECT_EQ(error_of([&] { load_program(::testing::TempDir()); }),
            "[load] cannot read " + ::testing::TempDir() + ": Is a directory");
  write("%x: f32(4) = input\n%y = epx %x\nreturn %y\n");
  EXPECT_EQ(error_of([&] { load_program(path_); }),
            "[parse] " + path_ + ":2:6: there is no operation 'epx'; did you mean exp?");
  write("%x: f32(4) = input\n%y = exp %x[(4) strides (2)]\nreturn %y\n");
  EXPECT_EQ(error_of([&] { load_program(path_); }),
            "[load] " + path_ + ": the program reads beyond an input of shape (4)");
  const Tensor captured = ones({4});
  const auto uses_it = compile([&](const Tensor& x) { return x + captured; });
  EXPECT_NE(error_of([&] {
              uses_it.save(path_, std::vector{captured});
            }).find("uses a tensor of shape (4) that is not one of its inputs"),
            std::string::npos);
}

}  // namespace
}  // namespace sinter::testing
