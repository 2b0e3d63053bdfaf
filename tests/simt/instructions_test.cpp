// The simt device's 16-bit floats, minimum and maximum against those of src/base, bit for bit.
#include <gtest/gtest.h>
#include <sinter/dtype.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <regex>

#include "src/runtime/gpu_argument.h"
#include "tests/simt/kernel_text.h"

namespace sinter::simt_test {
namespace {

KernelText one_to_one(const std::string& from, const std::string& to, const std::string& value) {
  return {.body = fmt::format("SN_INPUT({}, in0, 0);\nSN_OUTPUT({}, out0, 1);\n"
                              "wait_for_previous_kernel();\n"
                              "const idx at = block_index() * SN_THREADS + thread_index();\n"
                              "store_one(out0, at, {});",
                              from, to, value),
          .words = 3,
          .threads = 256};
}

template <typename Out, typename In>
std::vector<Out> run(const KernelText& kernel, std::vector<In> in) {
  std::vector<Out> out(in.size());
  launch(kernel, {bound(in), bound(out)}, {}, static_cast<std::int64_t>(in.size()) / 256);
  return out;
}

std::vector<std::uint16_t> all_sixteen_bits() {
  std::vector<std::uint16_t> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  return all;
}

// Random bits (every exponent, NaNs among them), values that a 16-bit float rounds, and edges.
std::vector<float> interesting_floats() {
  std::vector<float> values{0.0F,
                            -0.0F,
                            INFINITY,
                            -INFINITY,
                            NAN,
                            -NAN,
                            std::bit_cast<float>(0x7f800001U),
                            65504.0F,
                            65519.996F,
                            65520.0F,
                            -65520.0F,
                            6.1035156e-5F,
                            6.0975552e-5F,
                            5.9604645e-8F,
                            2.9802322e-8F,
                            2.9802326e-8F,
                            1e-45F,
                            std::numeric_limits<float>::max()};
  std::mt19937 random(7);
  while (values.size() < 256 * 256) {
    const auto bits = static_cast<std::uint32_t>(random());
    values.push_back(std::bit_cast<float>(bits));
    values.push_back(std::bit_cast<float>((bits & 0xffffe000U) | 0x1000U));  // half way for f16
    values.push_back(std::bit_cast<float>((bits & 0xffff0000U) | 0x8000U));  // and for bf16
    values.push_back(std::ldexp(static_cast<float>(bits % 4096), -27));      // small f16
  }
  values.resize(256 * 256);
  return values;
}

// A name that only the GPU's header has would fail in the first kernel that uses it.
TEST(SimtInstructions, EveryPrimitiveOfTheGpuIsThere) {
  const std::string gpu(kernel_header("cuda/primitives.cuh"));
  const std::string simt(kernel_header("simt/primitives.h"));
  const std::regex name(R"((?:\nSN_INLINE [^\n(]*[ >]|\n#define (?=SN_))(\w+)\()");
  int names = 0;
  for (std::sregex_iterator it(gpu.begin(), gpu.end(), name), end; it != end; ++it, ++names)
    EXPECT_TRUE(std::regex_search(simt, std::regex("[ >]" + (*it)[1].str() + "\\("))) << (*it)[1];
  EXPECT_GT(names, 25);
}

// GCC took this for trunc(), which keeps the sign.
TEST(SimtInstructions, ZeroHasNoSignAfterAWayThroughIntegers) {
  const std::vector<float> values(256, -0.3F);
  const std::string whole = "to_i32(load_one(in0, at))";
  const auto back = run<std::uint32_t>(
      one_to_one("f32", "f32", "select(ne(" + whole + ", 0), -0.75f, to_f32(" + whole + "))"),
      values);
  for (const std::uint32_t bits : back) ASSERT_EQ(bits, 0U);
}

TEST(SimtInstructions, ReadingSixteenBitFloats) {
  const auto all = all_sixteen_bits();
  const auto f16 = run<std::uint32_t>(one_to_one("f16", "f32", "load_one(in0, at)"), all);
  const auto bf16 = run<std::uint32_t>(one_to_one("bf16", "f32", "load_one(in0, at)"), all);
  for (std::uint16_t i : all) {
    ASSERT_EQ(f16[i], std::bit_cast<std::uint32_t>(f16_to_f32(i))) << i;
    ASSERT_EQ(bf16[i], std::bit_cast<std::uint32_t>(bf16_to_f32(i))) << i;
  }
}

TEST(SimtInstructions, RoundingToSixteenBitFloats) {
  const auto values = interesting_floats();
  const auto f16 = run<std::uint16_t>(one_to_one("f32", "f16", "load_one(in0, at)"), values);
  const auto bf16 = run<std::uint16_t>(one_to_one("f32", "bf16", "load_one(in0, at)"), values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(f16[i], f32_to_f16(values[i])) << values[i];
    ASSERT_EQ(bf16[i], f32_to_bf16(values[i])) << values[i];
  }
}

TEST(SimtInstructions, PairsAreTwoOfThem) {
  const auto values = interesting_floats();
  KernelText kernel = one_to_one("f32", "f16", "0.f");
  kernel.body =
      "SN_INPUT(f32, in0, 0);\nSN_OUTPUT(f16, out0, 1);\nwait_for_previous_kernel();\n"
      "const idx at = (block_index() * SN_THREADS + thread_index()) * 4;\nf32 x[4];\n"
      "if (at + 4 > 256 * 256) return;\n"
      "load_vector<4, 4, kOften>(x, in0, at);\nstore_vector<4, 4>(out0, at, x);";
  const auto f16 = run<std::uint16_t>(kernel, values);
  kernel.body.replace(kernel.body.find("SN_OUTPUT(f16"), 13, "SN_OUTPUT(bf16");
  const auto bf16 = run<std::uint16_t>(kernel, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(f16[i], f32_to_f16(values[i])) << values[i];
    ASSERT_EQ(bf16[i], f32_to_bf16(values[i])) << values[i];
  }
}

TEST(SimtInstructions, NanComesThroughAndZerosHaveAnOrder) {
  const std::vector<float> kEdges{0.0F, -0.0F, 1.0F, -1.0F, INFINITY, -INFINITY, NAN, 1e-45F};
  std::vector<float> values(256);  // all pairs in the first 64
  for (std::size_t i = 0; i < 256; ++i) values[i] = kEdges[i % 8];
  const std::string pair = "(load_one(in0, at % 8), load_one(in0, at / 8 % 8))";
  const auto greater = run<float>(one_to_one("f32", "f32", "maximum" + pair), values);
  const auto lesser = run<float>(one_to_one("f32", "f32", "minimum" + pair), values);
  for (std::size_t i = 0; i < 64; ++i) {
    const float a = kEdges[i % 8];
    const float b = kEdges[i / 8];
    if (std::isnan(a) || std::isnan(b)) {
      EXPECT_TRUE(std::isnan(greater[i]) && std::isnan(lesser[i])) << a << ' ' << b;
      continue;
    }
    const bool first = a > b || (a == b && !std::signbit(a));
    EXPECT_EQ(std::bit_cast<std::uint32_t>(greater[i]), std::bit_cast<std::uint32_t>(first ? a : b))
        << a << ' ' << b;
    const bool second = a < b || (a == b && std::signbit(a));
    EXPECT_EQ(std::bit_cast<std::uint32_t>(lesser[i]), std::bit_cast<std::uint32_t>(second ? a : b))
        << a << ' ' << b;
  }
}

TEST(SimtInstructions, QuotientsByInverses) {
  std::vector<std::int32_t> numbers;
  std::mt19937 random(11);
  for (int i = 0; i < 256; ++i)
    numbers.push_back(static_cast<std::int32_t>(random() >> (1 + i % 31)));
  numbers[0] = std::numeric_limits<std::int32_t>::max();
  for (const std::int64_t divisor : {1L, 2L, 3L, 641L, 65536L, 1000003L, 2147483647L, -7L}) {
    const std::string inverse = fmt::format("{}ull", gpu_inverse(divisor, 1 << 30));
    const auto found = run<std::int32_t>(
        one_to_one("i32", "i32",
                   fmt::format("(i32)quotient(load_one(in0, at), {}, {})", divisor, inverse)),
        numbers);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::int64_t whole =
          divisor < 0 ? -((numbers[i] - divisor - 1) / -divisor) : numbers[i] / divisor;
      ASSERT_EQ(found[i], whole) << numbers[i] << " / " << divisor;
    }
  }
}

// On packed halves: each half equals the scalar result.
TEST(SimtInstructions, PackedMinAndMax) {
  std::vector<std::uint16_t> values = all_sixteen_bits();
  std::shuffle(values.begin(), values.end(), std::mt19937(5));
  const std::uint16_t zeros[] = {0, 0x8000, 0,     0x8000, 0x8000,
                                 0, 0,      0x8000};  // packs at indices 0 and 4 are combined
  std::copy(std::begin(zeros), std::end(zeros), values.begin());
  const auto of_packed = [&](const std::string& type, const std::string& name) {
    KernelText kernel = one_to_one(type, "f32", "0.f");
    kernel.body = fmt::format(
        "SN_INPUT({0}, in0, 0);\nSN_OUTPUT(f32, out0, 1);\nwait_for_previous_kernel();\n"
        "const idx at = (block_index() * SN_THREADS + thread_index()) * 4;\n"
        "if (at + 4 > 256 * 256) return;\nPacked<{0}, 4> a, b;\n"
        "load_vector<4, 4, kOften>(a, in0, at);\n"
        "load_vector<4, 4, kOften>(b, in0, at ^ 4);\n"
        "for (int v = 0; v < 4; ++v) store_one(out0, at + v, element({1}(a, b), v));",
        type, name);
    return run<float>(kernel, values);
  };
  const auto is = [](float result, float a, float b, bool greater) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(result);
    if (a == b)
      return result == a && std::signbit(result) == (greater ? std::signbit(a) && std::signbit(b)
                                                             : std::signbit(a) || std::signbit(b));
    return result == (greater ? std::max(a, b) : std::min(a, b));
  };
  for (const bool greater : {true, false}) {
    const std::string name = greater ? "maximum" : "minimum";
    const auto f16 = of_packed("f16", name);
    const auto bf16 = of_packed("bf16", name);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint16_t a = values[i];
      const std::uint16_t b = values[i ^ 4];
      ASSERT_TRUE(is(f16[i], f16_to_f32(a), f16_to_f32(b), greater))
          << name << ' ' << a << ' ' << b;
      ASSERT_TRUE(is(bf16[i], bf16_to_f32(a), bf16_to_f32(b), greater))
          << name << ' ' << a << ' ' << b;
    }
  }
}

}  // namespace
}  // namespace sinter::simt_test
