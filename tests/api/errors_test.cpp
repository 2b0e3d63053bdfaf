// A caller's mistakes: each is a UserError that names the operation, what it got and what is wrong.
// Running out of memory is a DeviceError, and the process continues.
#include <gtest/gtest.h>
#include <sinter/sinter.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "tests/support/values.h"

namespace sinter::testing {
namespace {

void expect_error(const std::function<void()>& mistake, const std::string& text) {
  try {
    mistake();
    ADD_FAILURE() << "no error, expected: " << text;
  } catch (const UserError& error) {
    EXPECT_EQ(std::string(error.what()), text);
  } catch (const std::exception& error) {
    ADD_FAILURE() << "not a UserError: " << error.what();
  }
}

#define EXPECT_USER_ERROR(statement, text) expect_error([&] { statement; }, text)

const Shape kHuge{std::int64_t{1} << 40, std::int64_t{1} << 40};

TEST(ShapeErrors, OfPointwiseOperations) {
  const Tensor a = zeros({4, 8});
  const Tensor b = zeros({9, 3});
  EXPECT_USER_ERROR(a + b, "[add] shapes do not broadcast: a is (4, 8), b is (9, 3)");
  EXPECT_USER_ERROR(atan2(a, zeros({4})), "[atan2] shapes do not broadcast: a is (4, 8), b is (4)");
  EXPECT_USER_ERROR(where(a, 1, b),
                    "[where] shapes do not broadcast: a is (4, 8), b is a number, c is (9, 3)");
  EXPECT_USER_ERROR(a < zeros({0}), "[lt] shapes do not broadcast: a is (4, 8), b is (0)");
  EXPECT_USER_ERROR(add(1, 2), "[add] needs at least one tensor, got only numbers");
  EXPECT_USER_ERROR(exp(1), "[exp] needs at least one tensor, got only numbers");
  EXPECT_USER_ERROR(cast(1, DType::f16), "[cast] needs a tensor, got a number");
}

TEST(ShapeErrors, SayWhichFunctionIsTraced) {
  const Tensor a = zeros({4, 8});
  const Tensor b = zeros({9, 3}, DType::f16);
  const std::string wrong =
      "[add] shapes do not broadcast: a is (4, 8), b is (9, 3); while tracing ";
  const auto add = [](const Tensor& x, const Tensor& y) { return x + y; };
  const auto f = compile(add);
  EXPECT_USER_ERROR(f(a, b),
                    wrong + "an unnamed function of 2 tensors with inputs f32(4, 8), f16(9, 3)");
  EXPECT_EQ(f(a, a).shape(), (Shape{4, 8}));
  const auto layer = compile(add, {.name = "layer"});
  const std::string in_layer = wrong + "'layer' with inputs f32(4, 8), f16(9, 3)";
  EXPECT_USER_ERROR(layer(a, b), in_layer);
  EXPECT_USER_ERROR(layer.explain(std::array{a, b}), in_layer);
  const auto model = compile([&](const Tensor& x) { return layer(x, b); }, {.name = "model"});
  EXPECT_USER_ERROR(model(a), in_layer + "; while tracing 'model' with input f32(4, 8)");
  const auto constant = compile([&] { return a + b; }, {.name = "constant"});
  EXPECT_USER_ERROR(constant(), wrong + "'constant' without inputs");
}

class OwnError : public UserError {
 public:
  using UserError::UserError;
};

TEST(CompileErrors, KeepTheirType) {
  const auto thrower = [](const auto& error) {
    return compile([error](const Tensor& x) {
      if (x.numel() == 1) throw error;
      return x;
    });
  };
  const Tensor x = zeros({1});
  EXPECT_THROW(thrower(OwnError("mine"))(x), OwnError);
  EXPECT_THROW(thrower(IoError("disk"))(x), IoError);
  EXPECT_THROW(thrower(std::logic_error("other"))(x), std::logic_error);
}

TEST(ShapeErrors, OfAxes) {
  const Tensor x = zeros({2, 3});
  const std::string no_axis_2 = " there is no axis 2 in a tensor of 2 dimensions";
  EXPECT_USER_ERROR(sum(x, 2), "[sum]" + no_axis_2);
  EXPECT_USER_ERROR(mean(x, {0, 2}), "[mean]" + no_axis_2);
  EXPECT_USER_ERROR(var(x, 2), "[var]" + no_axis_2);
  EXPECT_USER_ERROR(logsumexp(x, 2), "[logsumexp]" + no_axis_2);
  EXPECT_USER_ERROR(any(x, 2), "[any]" + no_axis_2);
  EXPECT_USER_ERROR(argmax(x, 2), "[argmax]" + no_axis_2);
  EXPECT_USER_ERROR(softmax(x, 2), "[softmax]" + no_axis_2);
  EXPECT_USER_ERROR(log_softmax(x, 2), "[log_softmax]" + no_axis_2);
  EXPECT_USER_ERROR(transpose(x, 0, 2), "[transpose]" + no_axis_2);
  EXPECT_USER_ERROR(slice(x, 2, 0, 1), "[slice]" + no_axis_2);
  EXPECT_USER_ERROR(split(x, {1}, 2), "[split]" + no_axis_2);
  EXPECT_USER_ERROR(chunk(x, 2, 2), "[chunk]" + no_axis_2);
  EXPECT_USER_ERROR(concat({x}, 2), "[concat]" + no_axis_2);
  EXPECT_USER_ERROR(squeeze(x, 2), "[squeeze]" + no_axis_2);
  EXPECT_USER_ERROR(x.size(2), "[size]" + no_axis_2);
  EXPECT_USER_ERROR(sum(x, -3), "[sum] there is no axis -3 in a tensor of 2 dimensions");
  EXPECT_USER_ERROR(unsqueeze(x, 3), "[unsqueeze] there is no axis 3 in a tensor of 3 dimensions");
  EXPECT_USER_ERROR(sum(full({}, 1), 0), "[sum] there is no axis 0 in a tensor of 0 dimensions");
  EXPECT_USER_ERROR(softmax(full({}, 1)),
                    "[softmax] there is no axis -1 in a tensor of 0 dimensions");
  EXPECT_USER_ERROR(sum(x, {0, 0}), "[sum] axis 0 is named twice");
  EXPECT_USER_ERROR(max(x, {1, -1}), "[max] axis -1 is named twice");
}

TEST(ShapeErrors, OfViews) {
  const Tensor x = zeros({2, 3});
  EXPECT_USER_ERROR(reshape(x, {4, 2}), "[reshape] (2, 3) has 6 elements, which do not fit (4, 2)");
  EXPECT_USER_ERROR(reshape(x, {4, -1}),
                    "[reshape] (2, 3) has 6 elements, which do not fit (4, -1)");
  EXPECT_USER_ERROR(reshape(x, {0, -1}),
                    "[reshape] (2, 3) has 6 elements, which do not fit (0, -1)");
  EXPECT_USER_ERROR(reshape(zeros({0}), {0, -1}),
                    "[reshape] (0) has 0 elements, which do not fit (0, -1)");
  EXPECT_USER_ERROR(reshape(x, {-1, -1}), "[reshape] only one size may be -1: (-1, -1)");
  EXPECT_USER_ERROR(reshape(x, {-2, 3}), "[reshape] sizes cannot be negative: (-2, 3)");
  EXPECT_USER_ERROR(reshape(zeros({0}), {std::int64_t{1} << 32, std::int64_t{1} << 32}),
                    "[reshape] (4294967296, 4294967296) has too many elements");
  EXPECT_USER_ERROR(permute(x, {0}), "[permute] (0) names 1 axes, the tensor has 2");
  EXPECT_USER_ERROR(permute(x, {0, 0}), "[permute] (0, 0) does not name every axis once");
  EXPECT_USER_ERROR(permute(x, {0, -2}), "[permute] (0, -2) does not name every axis once");
  EXPECT_USER_ERROR(permute(x, {0, 2}), "[permute] there is no axis 2 in a tensor of 2 dimensions");
  EXPECT_USER_ERROR(expand(x, {2, 4}), "[expand] (2, 3) does not expand to (2, 4)");
  EXPECT_USER_ERROR(expand(x, {3}), "[expand] (3) has fewer axes than the tensor, (2, 3)");
  EXPECT_USER_ERROR(expand(x, {-1, 2, 3}), "[expand] (2, 3) does not expand to (-1, 2, 3)");
  EXPECT_USER_ERROR(expand(zeros({1}), {-5}), "[expand] (1) does not expand to (-5)");
  EXPECT_USER_ERROR(expand(zeros({1, 1}), kHuge),
                    "[expand] (1099511627776, 1099511627776) has too many elements");
  EXPECT_USER_ERROR(broadcast({x, zeros({4})}), "[broadcast] (4) does not broadcast with (2, 3)");
  EXPECT_USER_ERROR(slice(x, 0, 0, 2, 0), "[slice] the step cannot be 0");
  EXPECT_USER_ERROR(flip(x, 2), "[flip] there is no axis 2 in a tensor of 2 dimensions");
  EXPECT_USER_ERROR(flip(x, {0, -2}), "[flip] axis -2 is named twice");
  EXPECT_USER_ERROR(split(x, {1, 2}), "[split] the sizes add up to 3, axis 0 of (2, 3) has 2");
  EXPECT_USER_ERROR(split(x, {3, -1}), "[split] sizes cannot be negative");
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_USER_ERROR(split(x, {kMost, kMost, 4}), "[split] the sizes are too large");
  EXPECT_EQ(chunk(x, kMost).size(), 2u);
  EXPECT_USER_ERROR(permute(x, {0, (std::int64_t{1} << 32) + 1}),
                    "[permute] there is no axis 4294967297 in a tensor of 2 dimensions");
  EXPECT_USER_ERROR(chunk(x, 0), "[chunk] needs at least one chunk, not 0");
}

TEST(ShapeErrors, OfConcatAndStack) {
  const Tensor x = zeros({2, 3});
  EXPECT_USER_ERROR(concat({x, zeros({2, 4})}),
                    "[concat] (2, 3) and (2, 4) differ in more than axis 0");
  EXPECT_USER_ERROR(concat({x, zeros({3})}, 1),
                    "[concat] (2, 3) and (3) differ in more than axis 1");
  EXPECT_USER_ERROR(concat({}), "[concat] needs at least one tensor");
  EXPECT_USER_ERROR(concat({full({}, 1)}),
                    "[concat] there is no axis 0 in a tensor of 0 dimensions");
  EXPECT_USER_ERROR(stack({x, zeros({3, 2})}), "[stack] (2, 3) and (3, 2) differ in shape");
  EXPECT_USER_ERROR(stack({}), "[stack] needs at least one tensor");
  EXPECT_USER_ERROR(stack({x}, 3), "[stack] there is no axis 3 in a tensor of 3 dimensions");
}

TEST(ShapeErrors, OfTooManyDimensions) {
  EXPECT_USER_ERROR(Shape({1, 1, 1, 1, 1, 1, 1, 1, 1}),
                    "[shape] tensors have at most 8 dimensions");
  const Tensor x = zeros({1, 1, 1, 1, 1, 1, 1, 2});
  EXPECT_USER_ERROR(unsqueeze(x, 0), "[shape] tensors have at most 8 dimensions");
  EXPECT_USER_ERROR(stack({x, x}), "[shape] tensors have at most 8 dimensions");
}

TEST(ShapeErrors, OfSizes) {
  EXPECT_USER_ERROR(zeros({2, -3}), "[full] sizes cannot be negative: (2, -3)");
  EXPECT_USER_ERROR(full(kHuge, 1), "[full] (1099511627776, 1099511627776) has too many elements");
  EXPECT_USER_ERROR(from_vector<float>({}, {-1}), "[from_vector] sizes cannot be negative: (-1)");
  EXPECT_USER_ERROR(zeros({std::int64_t{1} << 57}, DType::f64),
                    "[full] (144115188075855872) has too many elements");
  EXPECT_USER_ERROR(from_host(nullptr, kHuge, DType::f32),
                    "[from_host] (1099511627776, 1099511627776) has too many elements");
  const Tensor column = expand(zeros({1, 1}), {kHuge[0], 1});
  const Tensor row = expand(zeros({1, 1}), {1, kHuge[1]});
  EXPECT_USER_ERROR(column + row, "[add] (1099511627776, 1099511627776) has too many elements");
}

TEST(ReductionErrors, OfNothing) {
  const Tensor x = zeros({3, 0});
  const std::string nothing = " cannot reduce (3, 0): it has no elements along the axes";
  EXPECT_USER_ERROR(max(x, 1), "[max]" + nothing);
  EXPECT_USER_ERROR(min(x), "[min]" + nothing);
  EXPECT_USER_ERROR(argmin(x, 1), "[argmin]" + nothing);
  EXPECT_USER_ERROR(argmax(x), "[argmax] cannot reduce (0): it has no elements along the axes");
  EXPECT_USER_ERROR(max(cast(x, DType::boolean)), "[max]" + nothing);
}

TEST(NormErrors, OfWeightsThatDoNotFit) {
  const Tensor x = zeros({2, 3});
  EXPECT_USER_ERROR(layer_norm(x, zeros({2})),
                    "[layer_norm] weight is (2), which is not the end of (2, 3)");
  EXPECT_USER_ERROR(layer_norm(x, zeros({3}), zeros({2})),
                    "[layer_norm] bias is (2), which is not the end of (2, 3)");
  EXPECT_USER_ERROR(rms_norm(x, zeros({1, 2, 3})),
                    "[rms_norm] weight is (1, 2, 3), which is not the end of (2, 3)");
  EXPECT_USER_ERROR(rms_norm(full({}, 1)),
                    "[rms_norm] weight is absent, which is not the end of ()");
}

TEST(NumberErrors, OfFullAndArange) {
  const Tensor x = zeros({2});
  EXPECT_USER_ERROR(full({2}, x), "[full] the value is a number, not a tensor");
  EXPECT_USER_ERROR(arange(x, 2), "[arange] takes numbers, not tensors");
  EXPECT_USER_ERROR(arange(0, 5, 0), "[arange] the step cannot be 0");
  EXPECT_USER_ERROR(arange(0, 1e30), "[arange] has too many elements");
  EXPECT_USER_ERROR(arange(0, std::int64_t{1} << 62), "[arange] has too many elements");
  EXPECT_USER_ERROR(arange(0, std::nan("")), "[arange] nan cannot be a start, stop or step");
  EXPECT_USER_ERROR(arange(0, 2, 1, DType::boolean), "[arange] cannot make bools");
  EXPECT_USER_ERROR(arange(0, 2, 0.5, DType::i32), "[arange] i64 cannot hold 0.5");
}

TEST(TensorErrors, OfUndefinedTensors) {
  const Tensor none;
  const Tensor x = zeros({2});
  const std::string undefined = " the tensor is undefined (a default-constructed Tensor)";
  EXPECT_USER_ERROR(none.shape(), "[shape]" + undefined);
  EXPECT_USER_ERROR(none.dtype(), "[dtype]" + undefined);
  EXPECT_USER_ERROR(none.item(), "[item]" + undefined);
  EXPECT_USER_ERROR(none.data(), "[data]" + undefined);
  EXPECT_USER_ERROR(x + none, "[add]" + undefined);
  EXPECT_USER_ERROR(exp(none), "[exp]" + undefined);
  EXPECT_USER_ERROR(cast(none, DType::f16), "[cast]" + undefined);
  EXPECT_USER_ERROR(sum(none), "[sum]" + undefined);
  EXPECT_USER_ERROR(argmax(none), "[argmax]" + undefined);
  EXPECT_USER_ERROR(softmax(none), "[softmax]" + undefined);
  EXPECT_USER_ERROR(layer_norm(none), "[layer_norm]" + undefined);
  EXPECT_USER_ERROR(reshape(none, {1}), "[reshape]" + undefined);
  EXPECT_USER_ERROR(permute(none, {0}), "[permute]" + undefined);
  EXPECT_USER_ERROR(concat({x, none}), "[concat]" + undefined);
  EXPECT_USER_ERROR(stack({none}), "[stack]" + undefined);
  EXPECT_USER_ERROR(broadcast({x, none}), "[broadcast]" + undefined);
}

TEST(TensorErrors, OfReadingValues) {
  const Tensor x = zeros({2, 3});
  EXPECT_USER_ERROR(x.item(), "[item] needs a tensor of one element, this one is (2, 3)");
  EXPECT_USER_ERROR(zeros({0}).item(), "[item] needs a tensor of one element, this one is (0)");
  EXPECT_USER_ERROR(x.to_vector<double>(), "[to_vector] the tensor is f32, not f64; cast it first");
  EXPECT_USER_ERROR(x.to_vector<bool>(), "[to_vector] the tensor is f32, not bool; cast it first");
}

TEST(TensorErrors, OfMemoryThatDoesNotFit) {
  std::vector<double> memory(4);
  EXPECT_USER_ERROR(from_host(nullptr, {2}, DType::f32), "[from_host] the data pointer is null");
  EXPECT_USER_ERROR(from_memory(nullptr, {2}, {1}, DType::f32, nullptr),
                    "[from_memory] the data pointer is null");
  EXPECT_USER_ERROR(from_memory(memory.data(), {2, 2}, {1}, DType::f64, nullptr),
                    "[from_memory] (2, 2) has 2 sizes, 1 strides");
  EXPECT_USER_ERROR(from_memory(memory.data(), {2}, {-1}, DType::f64, nullptr),
                    "[from_memory] strides cannot be negative: (-1)");
  void* odd = reinterpret_cast<char*>(memory.data()) + 1;
  EXPECT_USER_ERROR(from_memory(odd, {1}, {1}, DType::f64, nullptr),
                    "[from_memory] the data pointer is not aligned to its f64 elements");
}

// --- compile() ----------------------------------------------------------------------------------

TEST(CompileErrors, OfInputsAndResults) {
  const Tensor x = zeros({2});
  const auto add =
      compile_list([](std::span<const Tensor> a) { return std::vector<Tensor>{a[0] + a[1]}; }, 2);
  EXPECT_USER_ERROR(add.call(std::array{x}), "[compile] the function takes 2 tensors, got 1");
  EXPECT_USER_ERROR(add.call(std::array{x, x, x}), "[compile] the function takes 2 tensors, got 3");
  EXPECT_USER_ERROR(add.explain(std::array{x}), "[compile] the function takes 2 tensors, got 1");
  EXPECT_USER_ERROR(add.call(std::array{x, Tensor()}),
                    "[compile] input 1 is undefined (a default-constructed Tensor)");
  const auto none = compile([](const Tensor&) { return Tensor(); });
  const std::string tracing = "; while tracing an unnamed function of 1 tensor with input f32(2)";
  EXPECT_USER_ERROR(none(x),
                    "[compile] the tensor is undefined (a default-constructed Tensor)" + tracing);
  const auto empty = compile([](const Tensor&) { return std::vector<Tensor>{}; });
  EXPECT_USER_ERROR(empty(x), "[compile] the function returns no tensor" + tracing);
  EXPECT_USER_ERROR(add.dump("asm", std::array{x, x}),
                    "[dump] there is no stage 'asm'; stages are graph, passes, simplified, plan, "
                    "kernels, tile, source, ptx, launches");
}

TEST(CompileErrors, OfValuesReadWhileTracing) {
  const Tensor x = zeros({1});
  const std::string unknown =
      " values are not known while a function is being traced by compile(); while tracing an "
      "unnamed function of 1 tensor with input f32(1)";
  auto reading = [&](const std::function<void(const Tensor&)>& read) {
    compile([&](const Tensor& a) {
      read(a + 1);
      return a;
    })(x);
  };
  EXPECT_USER_ERROR(reading([](const Tensor& a) { a.item(); }), "[item]" + unknown);
  EXPECT_USER_ERROR(reading([](const Tensor& a) { a.to_vector<float>(); }), "[copy_to]" + unknown);
  EXPECT_USER_ERROR(reading([](const Tensor& a) { a.data(); }), "[data]" + unknown);
  reading([](const Tensor& a) {
    EXPECT_EQ(to_string(a), "Tensor(f32(1), being traced)");
    EXPECT_EQ(a.device(), "cpu");
    EXPECT_EQ(a.shape(), Shape{1});
  });
}

TEST(CompileErrors, OfTensorsThatLeaveTheirTrace) {
  Tensor leaked;
  const Tensor x = zeros({1});
  const auto f = compile([&](const Tensor& a) {
    leaked = a + 1;
    return leaked;
  });
  f(x);
  const std::string outside = " was used outside of it; return it from the function instead";
  EXPECT_USER_ERROR(leaked + x, "[add] a tensor made while tracing a function" + outside);
  EXPECT_USER_ERROR(sum(leaked), "[sum] a tensor made while tracing a function" + outside);
  EXPECT_USER_ERROR(
      f(leaked), "[compile] a traced tensor was passed to a compiled function outside its trace");
  EXPECT_USER_ERROR(leaked.item(),
                    "[item] values are not known while a function is being traced by compile()");
  const std::string elsewhere = "[compile] a tensor made while tracing one function" + outside +
                                "; while tracing an unnamed function of 1 tensor with input f32(1)";
  EXPECT_USER_ERROR(compile([&](const Tensor& a) { return a + leaked; })(x), elsewhere);
  EXPECT_USER_ERROR(compile([&](const Tensor&) { return leaked; })(x), elsewhere);
  EXPECT_EQ(f(x).item(), 1);
}

// --- the device ---------------------------------------------------------------------------------

TEST(DeviceErrors, OutOfMemoryAndOn) {
  const std::int64_t elements = std::int64_t{1} << 44;  // 64 TiB of f32
  const auto f = compile([](const Tensor& x) { return x + 1; });
  const Tensor wide = expand(zeros({1}), {elements});
  for (const std::function<void()>& allocate :
       {std::function<void()>([&] { zeros({elements}); }),
        std::function<void()>([&] { static_cast<void>(wide + 1); }),
        std::function<void()>([&] { f(wide); })}) {
    try {
      allocate();
      ADD_FAILURE() << "64 TiB were allocated";
    } catch (const DeviceError& error) {
      EXPECT_EQ(std::string(error.what()).rfind("[cpu] out of memory: asked for ", 0), 0u)
          << error.what();
      EXPECT_EQ(error.call(), "mmap");
    }
    EXPECT_EQ(f(zeros({1})).item(), 1);
  }
}

TEST(DeviceErrors, OfUnknownDevices) {
  EXPECT_THROW(device_memory("abacus"), UserError);
  EXPECT_THROW(release_cached_memory("abacus"), UserError);
}

}  // namespace
}  // namespace sinter::testing
