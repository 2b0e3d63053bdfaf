// Loads and stores: elements of buffers as values to compute with, one or V neighbours at a time.
// 16-bit floats become f32, bytes become bool. Needs types.cuh and primitives. SN_ALIGNED: every
// buffer is aligned for its widest access, so that V neighbours are one access.

namespace sn {

SN_INLINE f32 unpack_one(bf16 x) { return from_bits((u32)x.bits << 16); }
SN_INLINE f32 unpack_one(f32 x) { return x; }
SN_INLINE f64 unpack_one(f64 x) { return x; }
SN_INLINE i32 unpack_one(i32 x) { return x; }
SN_INLINE i64 unpack_one(i64 x) { return x; }
SN_INLINE bool unpack_one(u8 x) { return x != 0; }

template <class T, int V, class C>
SN_INLINE void unpack_all(C* to, const Pack<T, V>& pack) {
  SN_UNROLL
  for (int v = 0; v < V; ++v) to[v] = unpack_one(pack.element[v]);
}
// Two per instruction.
template <int V>
SN_INLINE void unpack_all(f32* to, const Pack<bf16, V>& pack) {
  static_assert(V % 2 == 0);
  u32 packed[V / 2];
  memcpy(packed, &pack, sizeof pack);
  SN_UNROLL
  for (int v = 0; v < V / 2; ++v) {
    to[2 * v] = from_bits(packed[v] << 16);
    to[2 * v + 1] = from_bits(packed[v] & 0xffff0000u);
  }
}

SN_INLINE void pack_one(f32& to, f32 x) { to = x; }
SN_INLINE void pack_one(f64& to, f64 x) { to = x; }
SN_INLINE void pack_one(i32& to, i32 x) { to = x; }
SN_INLINE void pack_one(i64& to, i64 x) { to = x; }
SN_INLINE void pack_one(u8& to, bool x) { to = x; }
SN_INLINE void pack_one(f16& to, f32 x) { to = pack_f16(x); }
SN_INLINE void pack_one(bf16& to, f32 x) { to = pack_bf16(x); }

SN_INLINE f32 round_f16(f32 x) { return unpack_one(pack_f16(x)); }
// The upper half of a packed bf16x2 is already the f32.
SN_INLINE f32 round_bf16(f32 x) { return from_bits(pack_bf16x2(0.f, x)); }

template <class T>
SN_INLINE auto load_one(In<T> from, idx at SN_WHERE) {
  return unpack_one(read_one(from, at SN_HERE));
}
template <class T>
SN_INLINE auto load_back_one(Out<T> from, idx at SN_WHERE) {
  return unpack_one(read_back_one(from, at SN_HERE));
}
template <class T, class C>
SN_INLINE void store_one(Out<T> to, idx at, C value SN_WHERE) {
  T stored;
  pack_one(stored, value);
  write_one(to, at, stored SN_HERE);
}

// V 16-bit floats as packed halves, as in memory: half the registers of the corresponding f32.
template <class T, int V>
struct Packed {
  u32 halves[V / 2];  // two each
};
template <int V>
SN_INLINE f32 element(const Packed<f16, V>& from, int v) {
  f16 x;
  x.bits = (u16)(from.halves[v / 2] >> v % 2 * 16);
  return unpack_one(x);
}
template <int V>
SN_INLINE f32 element(const Packed<bf16, V>& from, int v) {
  return v % 2 ? upper_bf16(from.halves[v / 2]) : lower_bf16(from.halves[v / 2]);
}

// Elementwise; NaN if either is NaN.
#define SN_OF_HALVES(name, T, of_two)                                            \
  template <int V>                                                               \
  SN_INLINE Packed<T, V> name(Packed<T, V> a, const Packed<T, V>& b) {           \
    SN_UNROLL                                                                    \
    for (int i = 0; i < V / 2; ++i) a.halves[i] = of_two(a.halves[i], b.halves[i]); \
    return a;                                                                    \
  }
SN_OF_HALVES(maximum, f16, fmax_nan_f16)
SN_OF_HALVES(minimum, f16, fmin_nan_f16)
SN_OF_HALVES(maximum, bf16, fmax_nan_bf16)
SN_OF_HALVES(minimum, bf16, fmin_nan_bf16)
#undef SN_OF_HALVES

// Loads write to an array of values or to packed halves, filled from the front.
template <class C, class T, int W>
SN_INLINE void set_pack(C* to, int v, const Pack<T, W>& pack) {
  unpack_all(to + v, pack);
}
template <class T, int V, int W>
SN_INLINE void set_pack(Packed<T, V>& to, int v, const Pack<T, W>& pack) {
  static_assert(W % 2 == 0);
  memcpy(to.halves + v / 2, &pack, sizeof pack);
}
template <class C, class T>
SN_INLINE void set_one(C* to, int v, T stored) {
  to[v] = unpack_one(stored);
}
template <class T, int V>
SN_INLINE void set_one(Packed<T, V>& to, int v, T stored) {
  const u32 bits = stored.bits;
  const u32 both = to.halves[v / 2];
  to.halves[v / 2] = v % 2 ? (both & 0xffffu) | bits << 16 : (both & 0xffff0000u) | bits;
}
template <class C>
SN_INLINE void set_value(C* to, int v, C value) {
  to[v] = value;
}
template <class T, int V>
SN_INLINE void set_value(Packed<T, V>& to, int v, f32 value) {
  T stored;
  pack_one(stored, value);
  set_one(to, v, stored);
}
template <int V, class To, class C>
SN_INLINE void set_all(To&& to, C value) {
  SN_UNROLL
  for (int v = 0; v < V; ++v) set_value(to, v, value);
}

// V neighbours from `at` on, W per access.
template <int V, int W, Reading reading, class T, class To>
SN_INLINE void load_vector(To&& to, In<T> from, idx at SN_WHERE) {
  if constexpr (SN_ALIGNED && W > 1) {
    SN_UNROLL
    for (int w = 0; w < V; w += W)
      set_pack(to, w, read_pack<W, reading>(from, at + w SN_HERE));
  } else if constexpr (V * sizeof(T) % 16 == 0) {
    constexpr int kPack = 16 / sizeof(T);
    SN_UNROLL
    for (int w = 0; w < V; w += kPack)
      set_pack(to, w, read_unaligned<kPack>(from, at + w, 0, kPack SN_HERE));
  } else {
    SN_UNROLL
    for (int v = 0; v < V; ++v) set_one(to, v, read_one(from, at + v SN_HERE));
  }
}
// All of them if `on`, else `other`.
template <int V, int W, Reading reading, class T, class To, class C>
SN_INLINE void load_where(To&& to, In<T> from, idx at, bool on, C other SN_WHERE) {
  if (on) return load_vector<V, W, reading>(to, from, at SN_HERE);
  set_all<V>(to, other);
}
// Those from `first` to `count`; the others become anything. Any range is valid, including empty
// ones and those that exceed the vector.
template <int V, int W, Reading reading, class T, class To>
SN_INLINE void load_range(To&& to, In<T> from, idx at, idx first, idx count SN_WHERE) {
  if constexpr (SN_ALIGNED && W > 1) {
    SN_UNROLL
    for (int w = 0; w < V; w += W)
      set_pack(to, w, read_pack_range<W, reading>(from, at + w, first - w, count - w SN_HERE));
  } else if constexpr (V * sizeof(T) % 16 == 0) {
    constexpr int kPack = 16 / sizeof(T);
    SN_UNROLL
    for (int w = 0; w < V; w += kPack)
      set_pack(to, w, read_unaligned<kPack>(from, at + w, first - w, count - w SN_HERE));
  } else {
    SN_UNROLL
    for (int v = 0; v < V; ++v) {
      T stored = {};
      if (v >= first && v < count) stored = read_one(from, at + v SN_HERE);
      set_one(to, v, stored);
    }
  }
}
// Replaces the elements outside a range, which few vectors have.
template <int V, class To, class C>
SN_INLINE void keep_range(To&& to, idx first, idx count, C other) {
  if (first <= 0 && count >= V) return;
  SN_UNROLL
  for (int v = 0; v < V; ++v)
    if (v < first || v >= count) set_value(to, v, other);
}
template <int V, int W, Reading reading, class T, class To, class C>
SN_INLINE void load_part(To&& to, In<T> from, idx at, idx count, C other SN_WHERE) {
  load_range<V, W, reading>(to, from, at, 0, count SN_HERE);
  keep_range<V>(to, 0, count, other);
}

// Prefetches V neighbours into shared memory, from pack `pack` on; the same thread reads them once
// they have arrived (wait_for_fetched). Unaligned ones are not prefetched but loaded when they are
// read.
template <int V, int W, Reading reading, class Packs, class T>
SN_INLINE void fetch_vector(Packs packs, i32 pack, In<T> from, idx at SN_WHERE) {
  if constexpr (SN_ALIGNED) {
    SN_UNROLL
    for (int w = 0; w < V / W; ++w)
      fetch_pack<W, reading>(packs, pack + w * SN_THREADS, from, at + w * W SN_HERE);
  }
}
template <int V, int W, class To, class Packs, class T>
SN_INLINE void take_vector(To&& to, Packs packs, i32 pack, In<T> from, idx at SN_WHERE) {
  if constexpr (SN_ALIGNED) {
    SN_UNROLL
    for (int w = 0; w < V / W; ++w) {
      const Pack<T, W> taken = get(packs, pack + w * SN_THREADS SN_HERE);
      set_pack(to, w * W, taken);
    }
  } else {
    load_vector<V, W, kOften>(to, from, at SN_HERE);
  }
}
template <int V, int W, class To, class Packs, class T, class C>
SN_INLINE void take_where(To&& to, Packs packs, i32 pack, In<T> from, idx at, bool on,
                          C other SN_WHERE) {
  if (on) return take_vector<V, W>(to, packs, pack, from, at SN_HERE);
  set_all<V>(to, other);
}

template <class T, int V, class C>
SN_INLINE void pack_all(Pack<T, V>& pack, const C* from) {
  SN_UNROLL
  for (int v = 0; v < V; ++v) pack_one(pack.element[v], from[v]);
}
// 16-bit floats two at a time: one instruction rounds both.
#define SN_PACK_HALVES(T, pack_two)                                          \
  template <int V>                                                           \
  SN_INLINE void pack_all(Pack<T, V>& pack, const f32* from) {               \
    if constexpr (V % 2 == 0) {                                              \
      u32 packed[V / 2];                                                     \
      SN_UNROLL                                                              \
      for (int v = 0; v < V / 2; ++v) packed[v] = pack_two(from[2 * v], from[2 * v + 1]); \
      memcpy(&pack, packed, sizeof pack);                                    \
    } else {                                                                 \
      SN_UNROLL                                                              \
      for (int v = 0; v < V; ++v) pack_one(pack.element[v], from[v]);        \
    }                                                                        \
  }
SN_PACK_HALVES(f16, pack_f16x2)
SN_PACK_HALVES(bf16, pack_bf16x2)
#undef SN_PACK_HALVES

template <int V, int W, class T, class C>
SN_INLINE void store_vector(Out<T> to, idx at, const C* from SN_WHERE) {
  if constexpr (SN_ALIGNED && W > 1) {
    SN_UNROLL
    for (int w = 0; w < V; w += W) {
      Pack<T, W> pack;
      pack_all(pack, from + w);
      write_pack<W>(to, at + w, pack SN_HERE);
    }
  } else {
    SN_UNROLL
    for (int v = 0; v < V; ++v) store_one(to, at + v, from[v] SN_HERE);
  }
}
template <int V, int W, class T, class C>
SN_INLINE void store_range(Out<T> to, idx at, idx first, idx count, const C* from SN_WHERE) {
  if constexpr (SN_ALIGNED && W > 1) {
    SN_UNROLL
    for (int w = 0; w < V; w += W) {
      Pack<T, W> pack;
      pack_all(pack, from + w);
      write_pack_range<W>(to, at + w, first - w, count - w, pack SN_HERE);
    }
  } else {
    SN_UNROLL
    for (int v = 0; v < V; ++v)
      if (v >= first && v < count) store_one(to, at + v, from[v] SN_HERE);
  }
}
template <int V, int W, class T, class C>
SN_INLINE void store_part(Out<T> to, idx at, idx count, const C* from SN_WHERE) {
  store_range<V, W>(to, at, 0, count, from SN_HERE);
}

// A pack of a run of elements, of which `count` are left from `at` on; the rest of it is 0 or what
// lies behind the run. `aligned`: `at` is a multiple of W.
template <int W, bool aligned, Reading reading, class T>
SN_INLINE Pack<T, W> load_run(In<T> from, idx at, idx count SN_WHERE) {
  if constexpr (SN_ALIGNED && aligned)
    return read_pack_range<W, reading>(from, at, 0, count SN_HERE);
  else
    return read_unaligned<W>(from, at, 0, count SN_HERE);
}
template <bool aligned, int W, class T>
SN_INLINE void store_run(Out<T> to, idx at, idx count, Pack<T, W> pack SN_WHERE) {
  if constexpr (SN_ALIGNED && aligned)
    if (count >= W) return write_pack<W>(to, at, pack SN_HERE);
  SN_UNROLL
  for (int w = 0; w < W; ++w)
    if (w < count) write_one(to, at + w, pack.element[w] SN_HERE);
}
// 16 bytes as words. Elements of 16 bits would be taken from their words where the load's branch
// ends, so that a thread waited for one load before the next.
template <int W, class T>
SN_INLINE Pack<u32, 4> words_of(const Pack<T, W>& pack) {
  Pack<u32, 4> words;
  memcpy(&words, &pack, sizeof words);
  return words;
}
template <class T, int W>
SN_INLINE Pack<T, W> elements_of(const Pack<u32, 4>& words) {
  Pack<T, W> pack;
  memcpy(&pack, &words, sizeof pack);
  return pack;
}
// Replaces the elements of a pack from `count` on, of which few packs have any.
template <class T, class C>
SN_INLINE void keep_first(Pack<u32, 4>& words, idx count, C other) {
  constexpr int kPack = 16 / sizeof(T);
  if (count >= kPack) return;
  Pack<T, kPack> pack = elements_of<T, kPack>(words);
  SN_UNROLL
  for (int v = 0; v < kPack; ++v)
    if (v >= count) pack_one(pack.element[v], other);
  words = words_of(pack);
}
// The elements of a pack, as they are in memory, to shared memory.
template <class T, class Array>
SN_INLINE void put_elements(Array array, i32 index, const Pack<u32, 4>& words SN_WHERE) {
  constexpr int kPack = 16 / sizeof(T);
  put_unaligned<kPack>(array, index, elements_of<T, kPack>(words) SN_HERE);
}
// An element of an array in shared memory that holds values as they are in memory.
template <class Array, class C>
SN_INLINE void put_value(Array array, i32 index, C value SN_WHERE) {
  decltype(get(array, index)) stored;
  pack_one(stored, value);
  put(array, index, stored SN_HERE);
}

// A floating-point scalar parameter.
SN_INLINE f64 real_word(u64 word) {
  f64 value;
  memcpy(&value, &word, sizeof value);
  return value;
}

}  // namespace sn
