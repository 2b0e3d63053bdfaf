// Tests of special values in vectors: whatever the other lanes hold, a lane's result is within its
// bound, infinities and zeros have the sign that libm gives them, and NaN is where libm has it.
// Part of cpu_vocabulary_test.cpp, which includes it once for each lane count.

namespace {

// libm's results, computed in a wider type.
#define SN_LIBM_FUNCTIONS(ROW) \
  ROW(exp)                     \
  ROW(exp2)                    \
  ROW(expm1)                   \
  ROW(log)                     \
  ROW(log2)                    \
  ROW(log10)                   \
  ROW(log1p)                   \
  ROW(sin)                     \
  ROW(cos)                     \
  ROW(tan)                     \
  ROW(asin)                    \
  ROW(acos)                    \
  ROW(atan)                    \
  ROW(sinh)                    \
  ROW(cosh)                    \
  ROW(tanh)                    \
  ROW(asinh)                   \
  ROW(acosh)                   \
  ROW(atanh)                   \
  ROW(erf)                     \
  ROW(erfc)

// Values around which functions change their algorithm.
template <class T>
std::vector<T> borders() {
  std::vector<T> r = special_values<T>();
  const bool narrow = sizeof(T) == 4;
  for (T x : {T(0.75),
              T(narrow ? 0x1p-13 : 0x1p-28),
              T(narrow ? 0x1p-26 : 0x1p-55),
              T(narrow ? 80 : 700),
              T(narrow ? 87.33 : 708.4),
              T(narrow ? 88.72 : 709.78),
              T(95),
              T(720),
              T(103.9),
              T(745.1),
              T(126),
              T(149.5),
              T(1022),
              T(1074.5),
              T(20),
              T(10.06),
              T(27.24),
              T(9.5),
              T(26),
              T(12345),
              T(1e9),
              T(0x1p40),
              T(0x1.8p41),
              T(0x1.8p20),
              T(0x1p18),
              T(1e5),
              T(0x1.8p60),
              T(0.34657359),
              T(0.34657359027997264),
              T(1.0397208),
              T(1.5),
              T(40),
              T(89.416),
              T(89.6),
              T(106),
              T(129),
              T(153),
              T(710.4758),
              T(710.7),
              T(750),
              T(1080),
              T(0x1p120),
              T(1e-38),
              T(1e-40),
              T(1e-310)})
    for (T y : {x, -x, std::nextafter(x, T(0)), std::nextafter(-x, -2 * x)}) r.push_back(y);
  return r;
}

template <class T, class F, class R>
void check_special_lanes(const char* name, F function, R reference) {
  const std::vector<T> values = borders<T>();
  for (T x : values)
    for (int distance : {1, 2, kLanes}) {
      T lanes[kLanes];
      for (int i = 0; i < kLanes; ++i)
        lanes[i] = i % distance == 0 ? x : T(0.75 + 0.25 * i / kLanes);
      auto got = lanes_of(function(load(&lanes[0])));
      for (int i = 0; i < kLanes; ++i) {
        const long double want = reference((long double)lanes[i]);
        EXPECT_LE(ulps<T>(got[i], want), 4) << name << " of " << lanes[i] << " beside " << x;
        EXPECT_TRUE(same_kind(got[i], reference(lanes[i])))
            << name << " of " << lanes[i] << ": " << got[i];
      }
    }
}

SN_TEST(SpecialLanesHaveLibmsResultsAndLeaveOthersAlone) {
#define SN_ROW(name)                                                                   \
  check_special_lanes<f32>(                                                            \
      #name, [](auto x) { return sn::name(x); }, [](auto x) { return std::name(x); }); \
  check_special_lanes<f64>(                                                            \
      #name, [](auto x) { return sn::name(x); }, [](auto x) { return std::name(x); });
  SN_LIBM_FUNCTIONS(SN_ROW)
#undef SN_ROW
}

// Unusual lanes take a slower way, and a vector with one of them takes all its lanes there.
template <class F>
void check_neighbours(const char* name, F function) {
  for (f32 neighbour : borders<f32>())
    for (f32 x : borders<f32>()) {
      f32 lanes[kLanes];
      for (int i = 0; i < kLanes; ++i) lanes[i] = i == 1 ? neighbour : x;
      const f32 beside = lanes_of(function(load(&lanes[0])))[0];
      const f32 alone = lanes_of(function(splat(x)))[0];
      EXPECT_TRUE(std::memcmp(&beside, &alone, sizeof alone) == 0 ||
                  (beside != beside && alone != alone))
          << name << " of " << x << " beside " << neighbour << ": " << beside << ", not " << alone;
    }
}

SN_TEST(ResultsDoNotDependOnNeighbours) {
#define SN_ROW(name) check_neighbours(#name, [](auto x) { return sn::name(x); });
  SN_ROW(exp) SN_ROW(exp2) SN_ROW(tanh) SN_ROW(sigmoid) SN_ROW(sin) SN_ROW(cos)
#undef SN_ROW
}

SN_TEST(TheCosineOfSmallAnglesIsOne) {
  for (f64 x : {0.0, 1e-310, 1e-40, 1e-30, 1e-20}) {
    EXPECT_EQ(lanes_of(sn::cos(splat((f32)x)))[0], 1.0f) << x;
    EXPECT_EQ(lanes_of(sn::cos(splat(-x)))[0], 1.0) << x;
  }
}

template <class T, class F, class R>
void check_special_pairs(const char* name, F function, R reference) {
  std::vector<T> values = special_values<T>();
  for (T x : {T(3), T(-3), T(4), T(1e-40), T(1e-310), T(1e9), T(16777217), T(0.9), T(1.1), T(-0.9)})
    values.push_back(x);
  const bool narrow = sizeof(T) == 4;
  for (T x :
       {T(narrow ? 0x1p-60 : 0x1p-500), T(narrow ? 0x1p-30 : 0x1p-60), T(0x1p60), T(0x1p-120)})
    for (T y : {x, std::nextafter(x, T(0)), std::nextafter(-x, T(-1))}) values.push_back(y);
  for (T a : values)
    for (T b : values) {
      T as[kLanes], bs[kLanes];
      for (int i = 0; i < kLanes; ++i) as[i] = i == 1 ? a : T(1.5), bs[i] = i == 1 ? b : T(0.5);
      auto got = lanes_of(function(load(&as[0]), load(&bs[0])));
      for (int i = 0; i < 2; ++i) {
        const long double want = reference((long double)as[i], (long double)bs[i]);
        EXPECT_LE(ulps<T>(got[i], want), 4) << name << " of " << as[i] << " and " << bs[i];
        EXPECT_TRUE(same_kind(got[i], reference(as[i], bs[i])))
            << name << " of " << as[i] << " and " << bs[i] << ": " << got[i];
      }
    }
}

// Vectors of floats are divided by different code than scalars.
template <class T>
void check_division_of_lanes() {
  std::vector<T> values = special_values<T>();
  std::mt19937_64 random(5);
  for (int i = 0; i < 60; ++i) {
    const u64 bits = random();
    T x;
    std::memcpy(&x, &bits, sizeof(T));
    values.push_back(x);
    values.push_back((T)(i64)(bits >> 40) / 16);
  }
  for (T a : values)
    for (T b : values) {
      T as[kLanes], bs[kLanes];
      for (int i = 0; i < kLanes; ++i) as[i] = i == 1 ? a : T(7.25), bs[i] = i == 1 ? b : T(-2);
      auto rest = lanes_of(sn::remainder(load(&as[0]), load(&bs[0])));
      auto quotient = lanes_of(sn::floor_div(load(&as[0]), load(&bs[0])));
      for (int i = 0; i < 2; ++i) {
        const T want_rest = sn::remainder(as[i], bs[i]), want = sn::floor_div(as[i], bs[i]);
        EXPECT_TRUE(ulps<T>(rest[i], want_rest) == 0 && same_kind(rest[i], want_rest))
            << as[i] << " modulo " << bs[i] << ": " << rest[i] << ", not " << want_rest;
        EXPECT_TRUE(ulps<T>(quotient[i], want) == 0 && same_kind(quotient[i], want))
            << as[i] << " over " << bs[i] << ": " << quotient[i] << ", not " << want;
      }
    }
}

SN_TEST(LanesDivideAsScalarsDo) {
  check_division_of_lanes<f32>();
  check_division_of_lanes<f64>();
}

template <class T>
void check_conversion_of_lanes() {
  std::vector<T> values = special_values<T>();
  for (T x : {T(0x1p31), T(0x1p63), T(0x1p32), T(0x1p64), T(2147483520), T(9223371487098961920.0)})
    for (T y : {x, -x, std::nextafter(x, T(0)), std::nextafter(-x, -2 * x)}) values.push_back(y);
  for (T x : values) {
    T lanes[kLanes];
    for (int i = 0; i < kLanes; ++i) lanes[i] = i == 1 ? x : T(-3.5);
    auto narrow = lanes_of(to_i32(load(&lanes[0])));
    auto wide = lanes_of(to_i64(load(&lanes[0])));
    for (int i = 0; i < kLanes; ++i) {
      EXPECT_EQ(narrow[i], to_i32(lanes[i])) << lanes[i];
      EXPECT_EQ(wide[i], to_i64(lanes[i])) << lanes[i];
    }
  }
}

SN_TEST(LanesConvertAsScalarsDo) {
  check_conversion_of_lanes<f32>();
  check_conversion_of_lanes<f64>();
}

SN_TEST(SpecialPairsHaveLibmsResults) {
  auto both = [](const char* name, auto function, auto reference) {
    check_special_pairs<f32>(name, function, reference);
    check_special_pairs<f64>(name, function, reference);
  };
  both(
      "pow", [](auto a, auto b) { return sn::pow(a, b); },
      [](auto a, auto b) { return std::pow(a, b); });
  both(
      "atan2", [](auto a, auto b) { return sn::atan2(a, b); },
      [](auto a, auto b) { return std::atan2(a, b); });
}

template <class T>
void check_zero_to_the_zeroth() {
  T a[kLanes], b[kLanes];
  for (int i = 0; i < kLanes; ++i)
    a[i] = i % 2 ? -T(0) : std::numeric_limits<T>::min() / 3, b[i] = i % 2 ? T(0) : T(0.5);
  auto got = lanes_of(sn::pow(load(&a[0]), load(&b[0])));
  for (int i = 0; i < kLanes; ++i)
    EXPECT_LE(ulps<T>(got[i], std::pow((long double)a[i], (long double)b[i])), 4) << a[i];
}

SN_TEST(ZeroToTheZerothIsOneBesideADenormal) {
  check_zero_to_the_zeroth<f32>();
  check_zero_to_the_zeroth<f64>();
}

}  // namespace
