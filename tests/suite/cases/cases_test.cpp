// Every case, fused and unfused: correct results at odd shapes in every dtype, and one kernel when
// fused.
#include <gtest/gtest.h>
#include <sinter/compile.h>
#include <sinter/device.h>
#include <sinter/error.h>

#include <set>

#include "src/runtime/registry.h"
#include "src/suite/cases/inputs.h"
#include "src/suite/measure/accuracy.h"

namespace sinter::suite {
namespace {

CompiledFunction compiled(const Case& each, bool fuse) {
  return compile_list(each.program, static_cast<int>(each.inputs.size()), {.fuse = fuse});
}

class SuiteCase : public ::testing::TestWithParam<std::string> {
 protected:
  SuiteCase() : each_(find_case(GetParam())), threads_(2) { devices(); }

  std::vector<Tensor> inputs(const Shape2& shape, DType dtype) {
    return make_inputs(each_, shape, dtype, find_device("cpu"), threads_);
  }
  Accuracy accuracy(const Shape2& shape, DType dtype, bool fuse) {
    const std::vector<Tensor> in = inputs(shape, dtype);
    const std::vector<std::vector<Tensor>> out{compiled(each_, fuse).call(in)};
    return check_outputs(each_, shape, in, out, threads_)[0];
  }

  const Case& each_;
  ThreadPool threads_;
};

TEST_P(SuiteCase, FusedIsRightInEveryType) {
  for (DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64})
    for (const Shape2& shape : {Shape2{33, 65}, Shape2{1, 1}, Shape2{7, 1030}, Shape2{130, 16}}) {
      const Accuracy found = accuracy(shape, dtype, true);
      EXPECT_LE(found.max_rel_err, tolerance(each_, dtype, found.rms))
          << to_string(shape) << " " << name_of(dtype);
      EXPECT_GT(found.checked_elements, 0);
    }
}

TEST_P(SuiteCase, UnfusedIsRightInWideTypes) {
  for (DType dtype : {DType::f32, DType::f64}) {
    const Accuracy found = accuracy({33, 65}, dtype, false);
    EXPECT_LE(found.max_rel_err, tolerance(each_, dtype, found.rms)) << name_of(dtype);
  }
}

TEST_P(SuiteCase, IsOneKernelThatMovesNoMoreThanItMust) {
  for (const Shape2& shape : {Shape2{33, 65}, Shape2{512, 512}, Shape2{16, 8192}}) {
    const std::vector<Tensor> in = unbacked_inputs(each_, shape, DType::f32, find_device("cpu"));
    const ProgramInfo info = compiled(each_, true).info(in);
    EXPECT_EQ(info.kernels, 1) << to_string(shape);
    EXPECT_EQ(info.buffer_bytes, 0) << to_string(shape);
    EXPECT_EQ(info.bytes, bytes_min(each_, shape, DType::f32)) << to_string(shape);
    EXPECT_GT(compiled(each_, false).info(in).kernels, 1) << to_string(shape);
  }
}

TEST_P(SuiteCase, InputsAreTheSameInEveryRun) {
  const auto bytes_of = [&](int threads) {
    ThreadPool pool(threads);
    std::vector<float> all;
    for (const Tensor& t : make_inputs(each_, {33, 65}, DType::f32, find_device("cpu"), pool))
      for (float x : t.to_vector<float>()) all.push_back(x);
    return all;
  };
  EXPECT_EQ(bytes_of(1), bytes_of(3));
}

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const Case& each : all_cases()) names.push_back(each.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(All, SuiteCase, ::testing::ValuesIn(case_names()),
                         [](const auto& param) { return param.param; });

TEST(Cases, AreThoseOfTheDesign) {
  std::set<std::string> names;
  for (const Case& each : all_cases()) names.insert(each.name);
  EXPECT_EQ(names.size(), 11u);
  for (const PendingCase& each : pending_cases()) {
    EXPECT_FALSE(each.reason.empty()) << each.name;
    names.insert(each.name);
  }
  EXPECT_EQ(names.size(), 23u);
}

std::string message_of(const std::string& name) {
  try {
    find_case(name);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Cases, AreFoundByNameOrSuggested) {
  EXPECT_EQ(find_case("softmax").name, "softmax");
  EXPECT_NE(message_of("layer_norm").find("did you mean layernorm?"), std::string::npos);
  EXPECT_NE(message_of("matmul").find("cannot run yet"), std::string::npos);
}

TEST(Cases, ShapesAreParsed) {
  EXPECT_EQ(parse_shape("33x65"), (Shape2{33, 65}));
  for (const char* bad : {"", "x", "33", "33x", "x65", "33x65x7", "-1x5", "0x5", "3 x5", "axb",
                          "99999999999999999999x1"})
    EXPECT_THROW(parse_shape(bad), UserError) << bad;
}

TEST(Cases, BytesMin) {
  EXPECT_EQ(bytes_min(find_case("layernorm"), {10, 7}, DType::f16), (70 + 7 + 7 + 70) * 2);
  EXPECT_EQ(bytes_min(find_case("h_red_red"), {10, 7}, DType::f32), (70 + 10 + 10) * 4);
}

TEST(Shapes, OverflowingShapesAreRefused) {
  EXPECT_THROW(parse_shape("2147483648x2147483648"), UserError);
  EXPECT_THROW(parse_shape("16777216x16777217"), UserError);
  EXPECT_EQ(parse_shape("16777216x16777216").numel(), std::int64_t{1} << 48);
}

}  // namespace
}  // namespace sinter::suite
