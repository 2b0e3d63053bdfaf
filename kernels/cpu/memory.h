// Loads and stores for generated CPU kernels: whole vectors, the first n lanes, strided, gathered,
// masked, non-temporal; for f32, f64, i32, i64 and bool (one byte). Needs types.h. A disabled lane
// never touches memory; it gets the value `other`.

namespace sn {

template <class V>
struct __attribute__((packed, may_alias)) Unaligned {
  V v;
};
template <class V>
SN_INLINE V load_raw(const void* p) {
  return ((const Unaligned<V>*)p)->v;
}
template <class V>
SN_INLINE void store_raw(void* p, V v) {
  ((Unaligned<V>*)p)->v = v;
}

// Masked access in one instruction if there is one; bit i of `lanes` enables lane i.
template <class V>
SN_INLINE V load_lanes(const void* p, u32 lanes, V v) {
#if SN_AVX512
  if constexpr (SN_IN_REGISTER(sizeof(V))) {
    auto& m = *(const Unaligned<V>*)p;
    u16 k = (u16)lanes;
    if constexpr (sizeof(v[0]) == 4)
      asm("vmovups %1, %0%{%2%}" : "+v"(v) : "m"(m), "Yk"(k));
    else if constexpr (sizeof(v[0]) == 8)
      asm("vmovupd %1, %0%{%2%}" : "+v"(v) : "m"(m), "Yk"(k));
    else if constexpr (sizeof(v[0]) == 2)
      asm("vmovdqu16 %1, %0%{%2%}" : "+v"(v) : "m"(m), "Yk"(k));
    else
      asm("vmovdqu8 %1, %0%{%2%}" : "+v"(v) : "m"(m), "Yk"(k));
    return v;
  }
#endif
  typedef decltype(v[0] + v[0]) Wide;
  for (int i = 0; i < SN_LANES; ++i) {
    if (!(lanes >> i & 1)) continue;
    if constexpr (sizeof(v[0]) >= 4)
      v[i] = ((const Unaligned<Wide>*)p)[i].v;
    else if constexpr (sizeof(v[0]) == 2)
      v[i] = ((const Unaligned<u16>*)p)[i].v;
    else
      v[i] = ((const u8*)p)[i];
  }
  return v;
}
template <class V>
SN_INLINE void store_lanes(void* p, u32 lanes, V v) {
#if SN_AVX512
  if constexpr (SN_IN_REGISTER(sizeof(V))) {
    auto& m = *(Unaligned<V>*)p;
    u16 k = (u16)lanes;
    if constexpr (sizeof(v[0]) == 4)
      asm("vmovups %1, %0%{%2%}" : "+m"(m) : "v"(v), "Yk"(k));
    else if constexpr (sizeof(v[0]) == 8)
      asm("vmovupd %1, %0%{%2%}" : "+m"(m) : "v"(v), "Yk"(k));
    else if constexpr (sizeof(v[0]) == 2)
      asm("vmovdqu16 %1, %0%{%2%}" : "+m"(m) : "v"(v), "Yk"(k));
    else
      asm("vmovdqu8 %1, %0%{%2%}" : "+m"(m) : "v"(v), "Yk"(k));
    return;
  }
#endif
  typedef decltype(v[0] + v[0]) Wide;
  for (int i = 0; i < SN_LANES; ++i) {
    if (!(lanes >> i & 1)) continue;
    if constexpr (sizeof(v[0]) >= 4)
      ((Unaligned<Wide>*)p)[i].v = v[i];
    else if constexpr (sizeof(v[0]) == 2)
      ((Unaligned<u16>*)p)[i].v = v[i];
    else
      ((u8*)p)[i] = v[i];
  }
}
SN_INLINE u32 first_lanes(i64 n) { return (1u << n) - 1; }

// Non-temporal if p is aligned to the whole vector; stream_fence() orders such stores.
template <class V>
SN_INLINE void stream_raw(void* p, V v) {
  if constexpr (SN_IN_REGISTER(sizeof(V))) {
    if (((u64)p & (sizeof(V) - 1)) == 0) {
      asm("vmovntps %1, %0" : "=m"(*(Unaligned<V>*)p) : "v"(v));
      return;
    }
  }
  store_raw(p, v);
}
// Lanes before the first address from p at which stream() is non-temporal. 0 in a row of so few
// vectors that the partial vector would cost more.
template <class T>
SN_INLINE i64 misaligned_lanes(const T* p, i64 cols) {
  constexpr i64 few = 16;
  return cols < few * SN_LANES ? 0 : (i64)(-(u64)p / sizeof(T) & (SN_LANES - 1));
}
SN_INLINE void stream_fence() {
#ifdef __SSE__
  asm volatile("sfence" ::: "memory");
#endif
}

// Converts integer lanes between widths: compilers expand __builtin_convertvector lane by lane
// here.
typedef __attribute__((vector_size(16))) i64 i64x2;
template <class V>
SN_INLINE i64x2 in_low_bytes(V v) {  // of a 16-byte register
  if constexpr (sizeof(V) == 16)
    return (i64x2)v;
  else if constexpr (sizeof(V) == 8)
    return i64x2{(i64) __builtin_bit_cast(u64, v), 0};
  else if constexpr (sizeof(V) == 4)
    return i64x2{(i64) __builtin_bit_cast(u32, v), 0};
  else
    return i64x2{(i64) __builtin_bit_cast(u16, v), 0};
}
template <class V>
SN_INLINE V from_low_bytes(i64x2 x) {
  if constexpr (sizeof(V) == 16)
    return (V)x;
  else if constexpr (sizeof(V) == 8)
    return __builtin_bit_cast(V, x[0]);
  else if constexpr (sizeof(V) == 4)
    return __builtin_bit_cast(V, (u32)x[0]);
  else
    return __builtin_bit_cast(V, (u16)x[0]);
}
template <class V>
SN_INLINE i32v widen(V v) {  // u8v or u16v
#if defined(__AVX2__) && SN_WORDS_IN_REGISTER
  i32v r;
  if constexpr (sizeof(v[0]) == 1)
    asm("vpmovzxbd %1, %0" : "=v"(r) : "v"(in_low_bytes(v)));
  else if constexpr (sizeof(V) == 32)
    asm("vpmovzxwd %1, %0" : "=v"(r) : "v"(v));
  else
    asm("vpmovzxwd %1, %0" : "=v"(r) : "v"(in_low_bytes(v)));
  return r;
#else
  return __builtin_convertvector(v, i32v);
#endif
}
template <class V>
SN_INLINE V narrow(i32v v) {  // to u8v or u16v; values must fit
#if SN_AVX512 && SN_WORDS_IN_REGISTER
  if constexpr (sizeof(V) == 32) {
    V r;
    asm("vpmovdw %1, %0" : "=v"(r) : "v"(v));
    return r;
  } else {
    i64x2 r;
    if constexpr (sizeof(V{}[0]) == 1)
      asm("vpmovdb %1, %0" : "=v"(r) : "v"(v));
    else
      asm("vpmovdw %1, %0" : "=v"(r) : "v"(v));
    return from_low_bytes<V>(r);
  }
#elif defined(__AVX2__) && SN_WORDS_IN_REGISTER
  i64x2 r;
#if SN_LANES == 8
  i64x2 high;
  asm("vextracti128 $1, %1, %0" : "=x"(high) : "x"(v));
  asm("vpackusdw %2, %x1, %0" : "=x"(r) : "x"(v), "x"(high));
#else
  asm("vpackusdw %1, %1, %0" : "=x"(r) : "x"(v));
#endif
  if constexpr (sizeof(V{}[0]) == 1) asm("vpackuswb %0, %0, %0" : "+x"(r));
  return from_low_bytes<V>(r);
#else
  return __builtin_convertvector(v, V);
#endif
}

// A dtype's vector between memory and compute form; the pointer only selects the dtype.
SN_INLINE f32v pack(const f32*, f32v v) { return v; }
SN_INLINE f64v pack(const f64*, f64v v) { return v; }
SN_INLINE i32v pack(const i32*, i32v v) { return v; }
SN_INLINE i64v pack(const i64*, i64v v) { return v; }
SN_INLINE u8v pack(const u8*, boolv v) { return narrow<u8v>(v.m & 1); }
SN_INLINE u8v pack(const bool*, boolv v) { return narrow<u8v>(v.m & 1); }
SN_INLINE f32v unpack(const f32*, f32v v) { return v; }
SN_INLINE f64v unpack(const f64*, f64v v) { return v; }
SN_INLINE i32v unpack(const i32*, i32v v) { return v; }
SN_INLINE i64v unpack(const i64*, i64v v) { return v; }
SN_INLINE boolv unpack(const u8*, u8v v) { return {widen(v) != 0}; }
SN_INLINE boolv unpack(const bool*, u8v v) { return {widen(v) != 0}; }

// Scalars in storage and compute form; half.h adds its own.
template <class T>
SN_INLINE T unpack_one(T x) {
  return x;
}
template <class T, class S>
SN_INLINE void store_one(T* p, S x) {
  *p = (T)x;
}
SN_INLINE bool unpack_one(u8 x) { return x != 0; }
template <class V>
SN_INLINE void set_lane(V& v, int i, decltype(V{}[0] + V{}[0]) x) {
  v[i] = x;
}
SN_INLINE void set_lane(boolv& v, int i, bool x) { v.m[i] = -(i32)x; }
template <class V>
SN_INLINE auto get_lane(V v, int i) {
  return v[i];
}
SN_INLINE bool get_lane(boolv v, int i) { return v.m[i] != 0; }

// The vector type of a dtype in memory.
template <class T>
struct Stored {
  typedef SN_VECTOR(T) type;
};
template <>
struct Stored<bool> {
  typedef u8v type;
};
template <>
struct Stored<f16> {
  typedef u16v type;
};
template <>
struct Stored<bf16> {
  typedef u16v type;
};

template <class T>
SN_INLINE auto load(const T* p) {
  return unpack(p, load_raw<typename Stored<T>::type>(p));
}
template <class T, class V>
SN_INLINE void store(T* p, V v) {
  store_raw(p, pack(p, v));
}
template <class T, class V>
SN_INLINE void stream(T* p, V v) {
  stream_raw(p, pack(p, v));
}

template <class T, class S>
SN_INLINE auto load_lanes_of(const T* p, u32 lanes, S other) {
  typedef typename Stored<T>::type Memory;
  typedef decltype(unpack(p, Memory{})) Compute;
  decltype(unpack_one(*p)) o = other;
  return unpack(p, load_lanes<Memory>(p, lanes, pack(p, (Compute)splat(o))));
}
template <class T, class S>
SN_INLINE auto load_n(const T* p, i64 n, S other) {
  return load_lanes_of(p, first_lanes(n), other);
}
template <class T, class S>
SN_INLINE auto load_masked(const T* p, boolv mask, S other) {
  return load_lanes_of(p, lane_bits(mask), other);
}
// Lanes first <= i < last of a vector; most vectors lie inside the range, or outside.
template <class T, class S>
SN_INLINE auto load_range(const T* p, i64 first, i64 last, S other) {
  typedef decltype(load(p)) Compute;
  if (first <= 0 && last >= SN_LANES) return load(p);
  decltype(unpack_one(*p)) o = other;
  if (first >= SN_LANES || last <= 0) return (Compute)splat(o);
  return load_masked(p, logical_and(lanes_below(last), logical_not(lanes_below(first))), other);
}
template <class T, class V>
SN_INLINE void store_n(T* p, V v, i64 n) {
  store_lanes(p, first_lanes(n), pack(p, v));
}
template <class T, class V>
SN_INLINE void store_masked(T* p, V v, boolv mask) {
  store_lanes(p, lane_bits(mask), pack(p, v));
}

template <class T>
SN_INLINE auto load_strided(const T* p, i64 stride) {
  decltype(load(p)) r{};
  for (int i = 0; i < SN_LANES; ++i) set_lane(r, i, unpack_one(p[i * stride]));
  return r;
}
template <class T, class S>
SN_INLINE auto load_strided_n(const T* p, i64 stride, i64 n, S other) {
  decltype(unpack_one(*p)) o = other;
  auto r = splat(o);
  for (int i = 0; i < n; ++i) set_lane(r, i, unpack_one(p[i * stride]));
  return r;
}
template <class T, class V>
SN_INLINE void store_strided(T* p, V v, i64 stride) {
  for (int i = 0; i < SN_LANES; ++i) store_one(p + i * stride, get_lane(v, i));
}
template <class T, class V>
SN_INLINE void store_strided_n(T* p, V v, i64 stride, i64 n) {
  for (int i = 0; i < n; ++i) store_one(p + i * stride, get_lane(v, i));
}

template <class T, class Offsets>
SN_INLINE auto gather(const T* p, Offsets offsets) {
  decltype(load(p)) r{};
  for (int i = 0; i < SN_LANES; ++i) set_lane(r, i, unpack_one(p[offsets[i]]));
  return r;
}
template <class T, class Offsets, class S>
SN_INLINE auto gather_masked(const T* p, Offsets offsets, boolv mask, S other) {
  decltype(unpack_one(*p)) o = other;
  auto r = splat(o);
  for (int i = 0; i < SN_LANES; ++i)
    if (mask.m[i]) set_lane(r, i, unpack_one(p[offsets[i]]));
  return r;
}
template <class T, class Offsets, class V>
SN_INLINE void scatter_masked(T* p, Offsets offsets, V v, boolv mask) {
  for (int i = 0; i < SN_LANES; ++i)
    if (mask.m[i]) store_one(p + offsets[i], get_lane(v, i));
}

}  // namespace sn
