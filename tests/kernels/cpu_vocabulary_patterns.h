// Tests of vectors on random bit patterns, and on random numbers where functions do most of their
// work: a million lanes for each function of f32, a quarter of that for f64, whose reference is
// slow. Part of cpu_vocabulary_test.cpp, which includes it once for each lane count.

namespace {

// f64 is a reference for f32, long double for f64.
template <class T>
using Wider = std::conditional_t<sizeof(T) == 4, f64, long double>;

// Fills lanes with bit patterns, with numbers up to where exp overflows, or with numbers up to 2.
template <class T>
void fill_lanes(T* lanes, int kind, std::mt19937_64& random) {
  for (int i = 0; i < kLanes; ++i) {
    const u64 bits = random();
    const T range = kind == 1 ? T(sizeof(T) == 4 ? 110 : 760) : T(2);
    if (kind == 0)
      std::memcpy(&lanes[i], &bits, sizeof(T));
    else
      lanes[i] = (T)std::ldexp((f64)(i64)bits, -63) * range;
  }
}

template <class T>
constexpr int patterns() {
  return (sizeof(T) == 4 ? 1000000 : 250000) / kLanes;
}

template <class T, class F, class R>
void check_patterns(const char* name, f64 bound, F function, R reference) {
  std::mt19937_64 random(17);
  f64 worst = 0;
  T where = 0, lanes[kLanes];
  for (int i = 0; i < patterns<T>(); ++i) {
    fill_lanes(lanes, i % 3, random);
    auto got = function(load(&lanes[0]));
    for (int j = 0; j < kLanes; ++j) {
      const Wider<T> want = reference((Wider<T>)lanes[j]);
      f64 error = ulps<T>(get_lane(got, j), want);
      if (!same_kind((Wider<T>)get_lane(got, j), want)) error = 1e9;
      if (error > worst) worst = error, where = lanes[j];
    }
  }
  EXPECT_LE(worst, bound) << name << " of " << where << " (" << sizeof(T) * 8 << " bits)";
}

// The bounds that libmvec's results have are in the table of cpu_vocabulary_test.cpp.
#define SN_WRITTEN_OUT(ROW) \
  ROW(exp, 2)               \
  ROW(exp2, 2)              \
  ROW(expm1, 3)             \
  ROW(sinh, 3)              \
  ROW(cosh, 2)              \
  ROW(tanh, 3)              \
  ROW(log, 2)               \
  ROW(log2, 3)              \
  ROW(log10, 3)             \
  ROW(log1p, 2)             \
  ROW(sin, 4)               \
  ROW(cos, 4)               \
  ROW(tan, 4)

SN_TEST(RandomPatternsStayWithinTheirBounds) {
#define SN_ROW(name, bound)                                                                   \
  check_patterns<f32>(                                                                        \
      #name, bound, [](auto x) { return sn::name(x); }, [](auto x) { return std::name(x); }); \
  check_patterns<f64>(                                                                        \
      #name, bound, [](auto x) { return sn::name(x); }, [](auto x) { return std::name(x); });
  SN_WRITTEN_OUT(SN_ROW)
#undef SN_ROW
}

template <class T, class F, class R>
void check_pairs_of_patterns(const char* name, f64 bound, F function, R reference) {
  std::mt19937_64 random(19);
  f64 worst = 0;
  T a[kLanes], b[kLanes], at_a = 0, at_b = 0;
  for (int i = 0; i < patterns<T>() / 4; ++i) {
    fill_lanes(a, i % 3, random), fill_lanes(b, i / 3 % 3, random);
    auto got = function(load(&a[0]), load(&b[0]));
    for (int j = 0; j < kLanes; ++j) {
      const Wider<T> want = reference(a[j], b[j]);
      f64 error = ulps<T>(get_lane(got, j), want);
      if (!same_kind((Wider<T>)get_lane(got, j), want)) error = 1e9;
      if (error > worst) worst = error, at_a = a[j], at_b = b[j];
    }
  }
  EXPECT_LE(worst, bound) << name << " of " << at_a << " and " << at_b;
}

SN_TEST(RandomPairsStayWithinTheirBounds) {
  auto both = [](const char* name, f64 bound, auto function, auto reference) {
    check_pairs_of_patterns<f32>(name, bound, function, reference);
    check_pairs_of_patterns<f64>(name, bound, function, reference);
  };
  both(
      "atan2", 3, [](auto a, auto b) { return sn::atan2(a, b); },
      [](auto a, auto b) { return std::atan2((Wider<decltype(a)>)a, (Wider<decltype(a)>)b); });
  both(
      "pow", 4, [](auto a, auto b) { return sn::pow(a, b); },
      [](auto a, auto b) { return std::pow((Wider<decltype(a)>)a, (Wider<decltype(a)>)b); });
  both(
      "remainder", 0, [](auto a, auto b) { return sn::remainder(a, b); },
      [](auto a, auto b) { return python_remainder(a, b); });
  both(
      "floor_div", 0, [](auto a, auto b) { return sn::floor_div(a, b); },
      [](auto a, auto b) { return sn::floor_div(a, b); });
}

}  // namespace
