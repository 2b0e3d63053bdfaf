// The part of cpu_vocabulary_test.cpp, which includes it, that tests loads and stores of vectors,
// 16-bit floats, reductions along a vector and transposition.
#pragma once

namespace {

SN_REDUCTION(Sum, a + b)
SN_REDUCTION(Prod, a* b)
SN_REDUCTION(Max, maximum(a, b))
SN_REDUCTION(Min, minimum(a, b))
SN_POSITION_REDUCTION(Argmax, gt(a, b))
SN_POSITION_REDUCTION(Argmin, lt(a, b))

// Memory whose last byte is followed, and first byte preceded, by pages that may not be touched.
class GuardedPage {
 public:
  GuardedPage() : size_((size_t)sysconf(_SC_PAGESIZE)) {
    base_ = (char*)mmap(nullptr, 3 * size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(base_ + size_, size_, PROT_READ | PROT_WRITE);
  }
  ~GuardedPage() { munmap(base_, 3 * size_); }
  template <class T>
  T* last(size_t count) const {
    return (T*)(base_ + 2 * size_) - count;
  }
  template <class T>
  T* first() const {
    return (T*)(base_ + size_);
  }

 private:
  size_t size_;
  char* base_;
};

template <class T>
T stored(int x) {
  if constexpr (std::is_same_v<T, f16>)
    return to_f16(x);
  else if constexpr (std::is_same_v<T, bf16>)
    return to_bf16(x);
  else
    return (T)x;
}
template <class T>
auto value(T x) {
  return unpack_one(x);
}

template <class T>
void check_memory() {
  using Compute = std::decay_t<decltype(unpack_one(T{}))>;
  GuardedPage page;
  const Compute other = (Compute)1;
  for (int n = 1; n <= kLanes; ++n) {
    T* p = page.last<T>(n);
    for (int i = 0; i < n; ++i) p[i] = stored<T>((i * 5 + n) % 7 - 3);
    auto expect_at = [&](auto lanes, int i, bool on, T element, const char* what) {
      EXPECT_EQ(lanes[i], on ? value(element) : other) << what << " lane " << i << " of " << n;
    };
    auto head = lanes_of(n < kLanes ? load_n(p, n, other) : load(p));
    for (int i = 0; i < kLanes; ++i) expect_at(head, i, i < n, i < n ? p[i] : T{}, "load_n");

    // Disabled lanes point far outside.
    boolv odd{};
    i64v offsets{};
    i32v short_offsets{};
    for (int i = 0; i < kLanes; ++i) {
      bool on = i % 2 == 1 && i < n;
      set_lane(odd, i, on);
      offsets[i] = on ? n - 1 - i : i64{1} << 40;
      short_offsets[i] = on ? n - 1 - i : 1 << 30;
    }
    auto masked = lanes_of(load_masked(p, odd, other));
    auto gathered = lanes_of(gather_masked(p, offsets, odd, other));
    auto short_gathered = lanes_of(gather_masked(p, short_offsets, odd, other));
    for (int i = 0; i < kLanes; ++i) {
      bool on = i % 2 == 1 && i < n;
      expect_at(masked, i, on, on ? p[i] : T{}, "load_masked");
      expect_at(gathered, i, on, on ? p[n - 1 - i] : T{}, "gather_masked");
      expect_at(short_gathered, i, on, on ? p[n - 1 - i] : T{}, "gather_masked");
    }

    const i64 stride = 3;
    T* q = page.last<T>((n - 1) * stride + 1);
    for (int i = 0; i < n; ++i) q[i * stride] = stored<T>(i % 5);
    auto strided =
        lanes_of(n < kLanes ? load_strided_n(q, stride, n, other) : load_strided(q, stride));
    for (int i = 0; i < kLanes; ++i)
      expect_at(strided, i, i < n, i < n ? q[i * stride] : T{}, "load_strided");

    // Stores leave the page before, the page after and disabled lanes untouched.
    T source[kLanes];
    for (int i = 0; i < kLanes; ++i) source[i] = stored<T>(i % 3);
    auto v = load(source);
    auto expect_stored = [&](const T* at, int i, const char* what) {
      EXPECT_EQ(value(*at), value(source[i])) << what << " lane " << i << " of " << n;
    };
    n < kLanes ? store_n(p, v, n) : store(p, v);
    for (int i = 0; i < n; ++i) expect_stored(p + i, i, "store_n");
    n < kLanes ? store_strided_n(q, v, stride, n) : store_strided(q, v, stride);
    for (int i = 0; i < n; ++i) expect_stored(q + i * stride, i, "store_strided");
    for (int i = 0; i < n; ++i) p[i] = stored<T>(1);
    store_masked(p, v, odd);
    for (int i = 0; i < n; ++i)
      if (i % 2)
        expect_stored(p + i, i, "store_masked");
      else
        EXPECT_EQ(value(p[i]), (Compute)1);
    scatter_masked(p, offsets, v, odd);
    for (int i = 1; i < n; i += 2) expect_stored(p + n - 1 - i, i, "scatter_masked");
    T* first = page.first<T>();
    store_n(first, v, 1);
    expect_stored(first, 0, "store_n at the page's start");
  }
  alignas(64) T target[4 * kLanes];
  T source[kLanes];
  for (int i = 0; i < kLanes; ++i) source[i] = stored<T>(i % 3);
  stream(target, load(source));
  stream(target + 2 * kLanes + 1, load(source));
  stream_fence();
  for (int i = 0; i < kLanes; ++i) {
    EXPECT_EQ(value(target[i]), value(source[i]));
    EXPECT_EQ(value(target[2 * kLanes + 1 + i]), value(source[i]));
  }
  auto all = gather(source, kLanes - 1 - iota_i64());
  for (int i = 0; i < kLanes; ++i) EXPECT_EQ(get_lane(all, i), value(source[kLanes - 1 - i]));
}

SN_TEST(LoadsAndStoresTouchOnlyTheirElements) {
  check_memory<f32>();
  check_memory<f64>();
  check_memory<i32>();
  check_memory<i64>();
  check_memory<bool>();
  check_memory<f16>();
  check_memory<bf16>();
}

f32 f16_reference(u16 bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  f64 magnitude = exponent == 0    ? std::ldexp(fraction, -24)
                  : exponent == 31 ? (fraction ? kNan : kInf)
                                   : std::ldexp(1024 + fraction, exponent - 25);
  return (f32)(bits >> 15 ? -magnitude : magnitude);
}
f32 bf16_reference(u16 bits) {
  u32 wide = (u32)bits << 16;
  f32 x;
  std::memcpy(&x, &wide, 4);
  return x;
}
bool same(f32 a, f32 b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

// Every bit pattern widens correctly and converts back; values between neighbours round to nearest
// even.
template <class H, class Reference, class Narrow, class Round>
void check_half(Reference reference, Narrow narrow, Round round) {
  u16 infinity = std::is_same_v<H, f16> ? 0x7c00 : 0x7f80;
  f64 beyond_most = std::is_same_v<H, f16> ? 65536.0 : std::ldexp(1.0, 128);
  for (u32 bits = 0; bits < 65536; bits += kLanes) {
    H h[kLanes], back[kLanes];
    for (int i = 0; i < kLanes; ++i) h[i].bits = (u16)(bits + i);
    f32v wide = load(h);
    store(back, wide);
    for (int i = 0; i < kLanes; ++i) {
      f32 want = reference(h[i].bits);
      ASSERT_TRUE(same(get_lane(wide, i), want)) << std::hex << bits + i;
      ASSERT_TRUE(same(to_f32(h[i]), want)) << std::hex << bits + i;
      ASSERT_TRUE(same(reference(back[i].bits), want)) << std::hex << bits + i;
      ASSERT_TRUE(same(reference(narrow(want).bits), want)) << std::hex << bits + i;
      if ((h[i].bits & 0x7fff) >= infinity) continue;
      f64 low = want, sign = std::signbit(want) ? -1 : 1;
      f64 high = (h[i].bits & 0x7fff) + 1 == infinity ? sign * beyond_most
                                                      : (f64)reference((u16)(h[i].bits + 1));
      f64 high_result = std::fabs(high) == beyond_most ? sign * kInf : high;
      f32 tie = (f32)((low + high) / 2);
      for (f32 x : {std::nextafter(tie, (f32)low), tie, std::nextafter(tie, (f32)high_result)}) {
        bool up = std::fabs(x) > std::fabs(tie) || (x == tie && (h[i].bits & 1));
        f32 rounded = (f32)(up ? high_result : low);
        ASSERT_TRUE(same(reference(narrow(x).bits), rounded)) << x;
        ASSERT_TRUE(same(round(x), rounded)) << x;
        ASSERT_TRUE(same(get_lane(round(splat(x)), 1), rounded)) << x;
        store(back, splat(x));
        ASSERT_TRUE(same(reference(back[1].bits), rounded)) << x;
      }
    }
  }
  for (f32 x : {(f32)kNan, -(f32)kNan, (f32)kInf, -(f32)kInf, 3e38f, 1e-45f, -1e-45f}) {
    f32 rounded = reference(narrow(x).bits);
    EXPECT_EQ(std::isnan(rounded), std::isnan(x));
    EXPECT_EQ(std::signbit(rounded), std::signbit(x));
    EXPECT_TRUE(same(get_lane(round(splat(x)), 0), rounded));
  }
}

SN_TEST(HalvesConvertExactlyAndRoundToNearestEven) {
  check_half<f16>(
      f16_reference, [](f32 x) { return to_f16(x); }, [](auto x) { return round_f16(x); });
  check_half<bf16>(
      bf16_reference, [](f32 x) { return to_bf16(x); }, [](auto x) { return round_bf16(x); });
}

template <class T, class I>
void check_positions(const std::vector<T>& x) {
  auto greater = [](T a, T b) { return b == b && (a != a || a > b); };
  auto less = [](T a, T b) { return b == b && (a != a || a < b); };
  int most = 0, least = 0;
  for (int i = 1; i < kLanes; ++i) {
    if (greater(x[i], x[most])) most = i;
    if (less(x[i], x[least])) least = i;
  }
  auto index = splat(I(100));
  for (int i = 0; i < kLanes; ++i) index[i] += i;
  EXPECT_EQ(reduce_positions<Argmax>(load(x.data()), index), 100 + most);
  EXPECT_EQ(reduce_positions<Argmin>(load(x.data()), index), 100 + least);
}

template <class T>
void check_reductions() {
  std::mt19937 random(5);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<T> x(kLanes);
    for (T& e : x) e = T((int)(random() % 9) - 4);
    if constexpr (std::is_floating_point_v<T>)
      if (trial % 4 == 0) x[random() % kLanes] = x[random() % kLanes] = T(kNan);
    T sum = 0, product = 1, most = x[0], least = x[0];
    for (T e : x) {
      sum += e, product *= e;
      most = maximum(most, e), least = minimum(least, e);
    }
    auto expect_same = [](T got, T want) {
      EXPECT_TRUE(got == want || (got != got && want != want));
    };
    expect_same(reduce_lanes<Sum>(load(x.data())), sum);
    if (std::is_floating_point_v<T>) expect_same(reduce_lanes<Prod>(load(x.data())), product);
    expect_same(reduce_lanes<Max>(load(x.data())), most);
    expect_same(reduce_lanes<Min>(load(x.data())), least);
    check_positions<T, i32>(x);
    check_positions<T, i64>(x);
  }
}

SN_TEST(ReductionsPropagateNanAndPickTheFirst) {
  check_reductions<f32>();
  check_reductions<f64>();
  check_reductions<i32>();
  check_reductions<i64>();
  boolv one = splat(false);
  set_lane(one, kLanes - 1, true);
  EXPECT_TRUE(reduce_lanes<Max>(one));
  EXPECT_FALSE(reduce_lanes<Min>(one));
  EXPECT_FALSE(reduce_lanes<Max>(splat(false)));
  EXPECT_TRUE(any(one));
  f32 best = 2;
  i64 index = 4;
  take_better<Argmax>(best, index, 2.0f, i64{9});
  EXPECT_EQ(index, 4);
  take_better<Argmax>(best, index, (f32)kNan, i64{10});
  take_better<Argmax>(best, index, 7.0f, i64{11});
  EXPECT_EQ(index, 10);
}

template <class T>
void check_transpose() {
  using Compute = std::decay_t<decltype(unpack_one(T{}))>;
  constexpr i64 dst_stride = 70;
  for (i64 rows : {1, 2, 3, 15, 16, 17, 33, 64})
    for (i64 cols : {1, 2, 5, 16, 31, 64, 65}) {
      i64 src_stride = rows + 3;
      std::unique_ptr<T[]> src(new T[src_stride * cols]);
      for (i64 i = 0; i < src_stride * cols; ++i) src[i] = stored<T>((int)(i * 7 % 251) - 100);
      std::vector<char> raw(sizeof(Compute) * 64 * dst_stride, 77);
      auto* dst = (Compute*)raw.data();
      const T* next = rows % 2 ? src.get() : nullptr;
      transpose_load(dst, dst_stride, src.get(), src_stride, rows, cols, next);
      for (i64 r = 0; r < 64; ++r)
        for (i64 c = 0; c < dst_stride; ++c) {
          bool inside = r < rows && c < cols;
          if (inside)
            ASSERT_EQ(dst[r * dst_stride + c], value(src[r + c * src_stride]))
                << rows << "x" << cols;
          else
            ASSERT_EQ(raw[(r * dst_stride + c) * sizeof(Compute)], 77) << rows << "x" << cols;
        }
    }
}

SN_TEST(TransposesAtOddSizes) {
  check_transpose<f32>();
  check_transpose<f64>();
  check_transpose<i32>();
  check_transpose<i64>();
  check_transpose<bool>();
  check_transpose<f16>();
  check_transpose<bf16>();
}

}  // namespace
