// What special values cost: times every pointwise operation of sinter/ops.def, in the vocabulary of
// kernels/cpu, on ordinary elements and with special ones among them, and prints the ratio.
// bench/special_values/run builds it for each vector width (SN_LANES) and element type
// (SN_ELEMENT).
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <string>

// clang-format off
#include "kernels/cpu/types.h"
#include "kernels/cpu/memory.h"
#include "kernels/cpu/math.h"
#include "kernels/cpu/math_divide.h"
#include "kernels/cpu/math_call.h"
#include "kernels/cpu/math_exp.h"
#include "kernels/cpu/math_log.h"
#include "kernels/cpu/math_trig.h"
#include "kernels/cpu/math_libmvec.h"
#include "kernels/cpu/math_pow.h"
// clang-format on

// Numbers stand for bools in operands and results, so that all operations are measured alike.
namespace sn {

using T = SN_ELEMENT;
using V = decltype(load((const T*)nullptr));
SN_INLINE boolv logical_and(V a, V b) { return logical_and(to_bool(a), to_bool(b)); }
SN_INLINE boolv logical_or(V a, V b) { return logical_or(to_bool(a), to_bool(b)); }
SN_INLINE boolv logical_xor(V a, V b) { return logical_xor(to_bool(a), to_bool(b)); }
SN_INLINE boolv logical_not(V a) { return logical_not(to_bool(a)); }
SN_INLINE V select(V a, V b, V c) { return select(to_bool(a), b, c); }
SN_INLINE V as_numbers(V v) { return v; }
SN_INLINE V as_numbers(boolv m) { return select(m, splat((T)1), splat((T)0)); }

}  // namespace sn

namespace {

using namespace sn;
using Limits = std::numeric_limits<T>;
constexpr int kElements = 1024;  // an operand: all of them stay in the first cache

struct Operands {
  alignas(64) std::array<T, kElements> a, b, c, result;
};

struct Operation {
  const char* name;
  int arity;
  void (*run)(Operands&);
};

#define SINTER_POINTWISE(name, arity, rule, cost, ...) \
  [[gnu::noinline]] void run_##name(Operands& x) {     \
    for (int i = 0; i < kElements; i += SN_LANES) {    \
      V a = load(&x.a[i]);                             \
      [[maybe_unused]] V b = load(&x.b[i]);            \
      [[maybe_unused]] V c = load(&x.c[i]);            \
      store(&x.result[i], as_numbers(__VA_ARGS__));    \
    }                                                  \
  }
#include <sinter/ops.def>
#undef SINTER_POINTWISE

const Operation kOperations[] = {
#define SINTER_POINTWISE(name, arity, rule, cost, ...) {#name, arity, run_##name},
#include <sinter/ops.def>
#undef SINTER_POINTWISE
};

struct Class {
  const char* name;
  T value;
};
const Class kClasses[] = {
    {"inf", Limits::infinity()},
    {"-inf", -Limits::infinity()},
    {"nan", Limits::quiet_NaN()},
    {"0", T(0)},
    {"-0", -T(0)},
    {"denormal", Limits::min() / 3},
    {"-denormal", -Limits::min() / 3},
    {"least", Limits::denorm_min()},
    {"tiny", Limits::min() * 4},
    {"-tiny", -Limits::min() * 4},
    {"1e-12", T(1e-12)},
    {"-0.5", T(-0.5)},
    {"1", T(1)},
    {"-1", T(-1)},
    {"2.5", T(2.5)},
    {"-2.5", T(-2.5)},
    {"20", T(20)},
    {"-20", T(-20)},
    {"overflows", T(sizeof(T) == 4 ? 95 : 720)},
    {"underflows", T(sizeof(T) == 4 ? -95 : -720)},
    {"1e4", T(12345)},
    {"1e6", T(1234567)},
    {"-1e9", T(-1e9)},
    {"huge", Limits::max() / 3},
    {"-huge", -Limits::max() / 3},
};

std::array<T, kElements> ordinary(T low, T high, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<T> some(low, high);
  std::array<T, kElements> r;
  for (T& x : r) x = some(random);
  return r;
}

// Every `distance`-th element becomes x, times a random factor of nearly 1 if that is ordinary.
std::array<T, kElements> mixed(std::array<T, kElements> r, T x, int distance) {
  for (int i = 0; i < kElements; i += distance) {
    const T near = x * (1 + T(i % 7) / 256);
    r[i] = std::isfinite(x) && x != 0 && std::fabs(x) != 1 ? near : x;
  }
  return r;
}

double seconds_of(const Operation& op, Operands& x) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  for (int sample = 0; sample < 7; ++sample) {
    const auto start = Clock::now();
    for (int i = 0; i < 4; ++i) op.run(x);
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count() / 4);
  }
  return best;
}

void measure(const Operation& op, double limit, bool all) {
  const bool above_one = std::string(op.name) == "acosh";
  Operands x = {ordinary(above_one ? 1.1 : 0.1, above_one ? 9 : 0.9, 1),
                ordinary(0.1, 0.9, 2),
                ordinary(0.1, 0.9, 3),
                {}};
  const Operands plain = x;
  const double usual = seconds_of(op, x);
  double worst = 0;
  std::string where, list;
  for (const Class& special : kClasses)
    for (int which = 0; which < std::min(op.arity, 2); ++which)
      for (int distance : {1, 2, SN_LANES}) {
        x = plain;
        std::array<T, kElements>& operand = which ? x.b : x.a;
        operand = mixed(operand, special.value, distance);
        double ratio = seconds_of(op, x) / usual;
        if (ratio > limit) ratio = std::min(ratio, seconds_of(op, x) / usual);
        const std::string name = std::string(which ? "b=" : "") + special.name +
                                 (distance == 1   ? ""
                                  : distance == 2 ? "/2"
                                                  : "/lanes");
        if (ratio > worst) worst = ratio, where = name;
        if (ratio > limit || all) {
          char text[64];
          std::snprintf(text, sizeof text, " %s %.1f", name.c_str(), ratio);
          list += text;
        }
      }
  std::printf("%-4s %2d bytes  %-12s %7.3f ns  worst %5.2f %-12s %s\n",
              sizeof(T) == 4 ? "f32" : "f64", (int)sizeof(V), op.name, usual / kElements * 1e9,
              worst, where.c_str(), list.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const bool all = argc > 1 && !std::strcmp(argv[1], "--all");
  for (const Operation& op : kOperations) {
    bool wanted = argc <= 1 + all;
    for (int i = 1 + all; i < argc; ++i) wanted |= !std::strcmp(argv[i], op.name);
    if (wanted) measure(op, 1.5, all);
  }
}
