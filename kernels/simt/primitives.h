// kernels/cuda/primitives.cuh for the SIMT executor: a thread is a fiber, and every memory access
// is checked. Replaces that header and defines the same names. Needs simt/interface.h, types.cuh;
// SN_THREADS, SN_CLUSTER.

// C library functions that kernels call. <math.h> would add overloads and half a second of compile
// time.
extern "C" {
#define SN_LIBRARY(name)        \
  double name(double) noexcept; \
  float name##f(float) noexcept;
SN_LIBRARY(fabs)
SN_LIBRARY(floor)
SN_LIBRARY(ceil)
SN_LIBRARY(rint)
SN_LIBRARY(trunc)
SN_LIBRARY(sqrt)
SN_LIBRARY(exp)
SN_LIBRARY(exp2)
SN_LIBRARY(expm1)
SN_LIBRARY(log)
SN_LIBRARY(log2)
SN_LIBRARY(log10)
SN_LIBRARY(log1p)
SN_LIBRARY(sin)
SN_LIBRARY(cos)
SN_LIBRARY(tan)
SN_LIBRARY(asin)
SN_LIBRARY(acos)
SN_LIBRARY(atan)
SN_LIBRARY(sinh)
SN_LIBRARY(cosh)
SN_LIBRARY(tanh)
SN_LIBRARY(asinh)
SN_LIBRARY(acosh)
SN_LIBRARY(atanh)
SN_LIBRARY(erf)
SN_LIBRARY(erfc)
#undef SN_LIBRARY
#define SN_LIBRARY(name)                \
  double name(double, double) noexcept; \
  float name##f(float, float) noexcept;
SN_LIBRARY(pow)
SN_LIBRARY(atan2)
SN_LIBRARY(fmod)
SN_LIBRARY(copysign)
#undef SN_LIBRARY
double fma(double, double, double) noexcept;
float fmaf(float, float, float) noexcept;
void* memcpy(void*, const void*, __SIZE_TYPE__) noexcept;

// The GPU thread running on this host thread.
thread_local sn::simt::Thread* sn_simt_thread;
sn::simt::Thread** sn_simt_place() { return &sn_simt_thread; }
}

namespace sn {

template <int count>
struct Arguments {
  u64 words[count];
};
#define SN_KERNEL(name, count) extern "C" void name(const sn::Arguments<count>& arguments)

// --- global memory: an address and its number of elements ---

template <class T>
struct Buffer {
  T* data;
  i64 elements;
  const char* name;

  SN_MEMBER Buffer(u64 address, int index, const char* own_name)
      : data((T*)address), elements(sn_simt_thread->elements[index]), name(own_name) {}

  // The address of `count` neighbours from `at` on.
  SN_MEMBER T* check(i64 at, int count, bool write, int line) const {
    simt::Fault fault = simt::Fault::outside;
    if (!sn_simt_thread->may_touch_memory)
      fault = simt::Fault::not_waited;
    else if (at >= 0 && at <= elements - count) {
      if ((u64)(data + at) % (sizeof(T) * count) == 0) return data + at;
      fault = simt::Fault::misaligned;
    }
    const simt::Access access = {name, at, count, (int)sizeof(T) * count, elements, write};
    sn_simt_thread->calls->refuse(sn_simt_thread, &access, fault, line);
    __builtin_unreachable();
  }
};
template <class T>
struct In : Buffer<const T> {
  using Buffer<const T>::Buffer;
};
template <class T>
struct Out : Buffer<T> {
  using Buffer<T>::Buffer;
};
#define SN_INPUT(T, name, index) const sn::In<T> name(arguments.words[index], index, #name)
#define SN_OUTPUT(T, name, index) const sn::Out<T> name(arguments.words[index], index, #name)

template <class T>
SN_INLINE T read_one(In<T> from, idx at SN_WHERE) {
  return *from.check(at, 1, false, line);
}
template <class T>
SN_INLINE T read_back_one(Out<T> from, idx at SN_WHERE) {
  return *from.check(at, 1, false, line);
}
template <class T>
SN_INLINE void write_one(Out<T> to, idx at, T value SN_WHERE) {
  *to.check(at, 1, true, line) = value;
}
template <int V, Reading reading, class T>
SN_INLINE Pack<T, V> read_pack(In<T> from, idx at SN_WHERE) {
  return *(const Pack<T, V>*)from.check(at, V, false, line);
}
template <int V, class T>
SN_INLINE i32 elements_past_pack(In<T> from, idx at) {
  return (i32)(((u64)from.data + (u64)(i64)at * sizeof(T)) % 16 / sizeof(T));
}
// Reads only what is in the buffer.
template <int V, class T>
SN_INLINE Pack<T, V> read_unaligned(In<T> from, idx at, idx first, idx count SN_WHERE) {
  Pack<T, V> pack = {};
  for (int v = 0; v < V; ++v)
    if (v >= first && v < count) pack.element[v] = read_one(from, at + v, line);
  return pack;
}
template <int V, Reading reading, class T>
SN_INLINE Pack<T, V> read_pack_range(In<T> from, idx at, idx first, idx count SN_WHERE) {
  if (first <= 0 && count >= V) return read_pack<V, reading>(from, at, line);
  return read_unaligned<V>(from, at, first, count, line);
}
template <int V, Reading reading, class T>
SN_INLINE Pack<u32, 4> read_words_range(In<T> from, idx at, idx first, idx count SN_WHERE) {
  const Pack<T, V> pack = read_pack_range<V, reading>(from, at, first, count, line);
  Pack<u32, 4> words;
  memcpy(&words, &pack, sizeof words);
  return words;
}
template <int V, class T>
SN_INLINE void write_pack(Out<T> to, idx at, Pack<T, V> pack SN_WHERE) {
  *(Pack<T, V>*)to.check(at, V, true, line) = pack;
}
template <int V, class T>
SN_INLINE void write_pack_range(Out<T> to, idx at, idx first, idx count, Pack<T, V> pack SN_WHERE) {
  if (first <= 0 && count >= V) return write_pack<V>(to, at, pack, line);
  for (int v = 0; v < V; ++v)
    if (v >= first && v < count) write_one(to, at + v, pack.element[v], line);
}

// --- thread ids and ordering of kernels ---

SN_INLINE i32 thread_index() { return sn_simt_thread->thread; }
SN_INLINE i64 block_index() { return sn_simt_thread->block; }
SN_INLINE i64 block_count() { return sn_simt_thread->blocks; }
SN_INLINE i32 cluster_rank() { return sn_simt_thread->rank; }

SN_INLINE void wait_for_previous_kernel() { sn_simt_thread->may_touch_memory = true; }
SN_INLINE void let_next_kernel_start() {}

SN_INLINE void block_barrier(int line = __builtin_LINE()) {
  sn_simt_thread->calls->block_barrier(sn_simt_thread, line);
}
#if SN_CLUSTER > 1
SN_INLINE void cluster_has_started(int line = __builtin_LINE()) {
  sn_simt_thread->calls->arrive_at_cluster(sn_simt_thread, false, line);
}
SN_INLINE void wait_for_cluster(int line = __builtin_LINE()) {
  sn_simt_thread->calls->wait_for_cluster(sn_simt_thread, false, line);
}
SN_INLINE void cluster_barrier(int line = __builtin_LINE()) {
  sn_simt_thread->calls->arrive_at_cluster(sn_simt_thread, true, line);
  sn_simt_thread->calls->wait_for_cluster(sn_simt_thread, true, line);
}
#endif

// --- exchange ---

template <class T>
SN_INLINE T shuffle_xor(T value, i32 mask SN_WHERE) {
  sn_simt_thread->calls->exchange(sn_simt_thread, &value, sizeof value, mask, line);
  return value;
}

template <class T>
struct SharedArray {
  void* array;

  SN_MEMBER T* check(i32 index, i32 rank, bool write, int line) const {
    return (T*)sn_simt_thread->calls->shared_element(sn_simt_thread, array, index, rank, write,
                                                     line);
  }
};
template <class T>
SN_INLINE SharedArray<T> shared_array(const void* site, const char* name, i64 count SN_WHERE) {
  return {sn_simt_thread->calls->shared_array(sn_simt_thread, site, name, count, sizeof(T), line)};
}
// A static object per declaration identifies it.
#define SN_SHARED(T, name, count)    \
  static const char name##_site = 0; \
  const sn::SharedArray<T> name = sn::shared_array<T>(&name##_site, #name, count)
template <class T>
SN_INLINE T get(SharedArray<T> array, i32 index SN_WHERE) {
  return *array.check(index, cluster_rank(), false, line);
}
template <class T>
SN_INLINE void put(SharedArray<T> array, i32 index, T value SN_WHERE) {
  *array.check(index, cluster_rank(), true, line) = value;
}
#define SN_SHARED_RUN(T, name, count) SN_SHARED(T, name, count)
template <int W, class T>
SN_INLINE Pack<T, W> get_pack(SharedArray<T> array, i32 index SN_WHERE) {
  Pack<T, W> pack;
  for (int w = 0; w < W; ++w) pack.element[w] = get(array, index + w, line);
  return pack;
}
template <int W, class T>
SN_INLINE void put_pack(SharedArray<T> array, i32 index, Pack<T, W> pack SN_WHERE) {
  for (int w = 0; w < W; ++w) put(array, index + w, pack.element[w], line);
}
template <int W, class T>
SN_INLINE void put_unaligned(SharedArray<T> array, i32 index, Pack<T, W> pack SN_WHERE) {
  put_pack<W>(array, index, pack, line);
}

#if SN_CLUSTER > 1
template <class T>
SN_INLINE void put_in_block(SharedArray<T> array, i32 index, i32 rank, T value SN_WHERE) {
  *array.check(index, rank, true, line) = value;
}

// Exchange barriers (mbarriers) count stored bytes and also act as barriers.
#define SN_EXCHANGES(name, count)      \
  [[maybe_unused]] const i32 name = 0; \
  sn::start_exchanges(name, count);
SN_INLINE void start_exchanges(i32, i32) {}
SN_INLINE void expect_at_exchange(i32, i32 exchange, i32 bytes SN_WHERE) {
  if (thread_index() == 0)
    sn_simt_thread->calls->expect_at_exchange(sn_simt_thread, exchange, bytes, line);
}
template <class T>
SN_INLINE void put_at_exchange(SharedArray<T> array, i32 at, i32 rank, T value, i32,
                               i32 exchange SN_WHERE) {
  put_in_block(array, at, rank, value SN_HERE);
  sn_simt_thread->calls->put_at_exchange(sn_simt_thread, exchange, rank, (int)sizeof(T), line);
}
SN_INLINE void wait_for_exchange(i32, i32 exchange, i32 parity SN_WHERE) {
  sn_simt_thread->calls->wait_for_exchange(sn_simt_thread, exchange, parity, line);
}
#endif

// --- prefetch: copies complete when the thread waits for them ---

#define SN_FETCHED(T, W, name, count, at) \
  static const char name##_site = 0;      \
  const sn::SharedArray<Pack<T, W>> name = sn::fetched_array<Pack<T, W>>(&name##_site, #name, count)
template <class T>
SN_INLINE SharedArray<T> fetched_array(const void* site, const char* name, i64 count SN_WHERE) {
  return {sn_simt_thread->calls->fetched_array(sn_simt_thread, site, name, count, sizeof(T), line)};
}
template <int W, Reading reading, class T>
SN_INLINE void fetch_pack(SharedArray<Pack<T, W>> packs, i32 index, In<T> from, idx at SN_WHERE) {
  static_assert(sizeof(Pack<T, W>) == 16);
  sn_simt_thread->calls->fetch(sn_simt_thread, packs.array, index, from.check(at, W, false, line),
                               line);
}
SN_INLINE void end_of_fetch() { sn_simt_thread->calls->end_of_fetch(sn_simt_thread); }
template <int left>
SN_INLINE void wait_for_fetched(int line = __builtin_LINE()) {
  sn_simt_thread->calls->wait_for_fetched(sn_simt_thread, left, line);
}

// --- instructions ---

SN_INLINE u32 bits_of(f32 x) {
  u32 bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
SN_INLINE f32 from_bits(u32 bits) {
  f32 x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
SN_INLINE f32 lower_bf16(u32 packed) { return from_bits(packed << 16); }
SN_INLINE f32 upper_bf16(u32 packed) { return from_bits(packed & 0xffff0000u); }

// Positive zero is greater than negative zero.
SN_INLINE f32 fmax_nan(f32 a, f32 b) {
  if (a != a || b != b) return a != a ? a : b;
  return a == b ? from_bits(bits_of(a) & bits_of(b)) : a > b ? a : b;
}
SN_INLINE f32 fmin_nan(f32 a, f32 b) {
  if (a != a || b != b) return a != a ? a : b;
  return a == b ? from_bits(bits_of(a) | bits_of(b)) : a < b ? a : b;
}
// Flushes subnormal inputs and results to 0.
SN_INLINE f32 flushed(f32 x) {
  return ::fabsf(x) < 1.17549435e-38f ? from_bits(bits_of(x) & 0x80000000u) : x;
}
SN_INLINE f32 fast_exp2(f32 x) { return flushed(::exp2f(flushed(x))); }
SN_INLINE f32 fast_sin(f32 x) { return ::sinf(x); }
SN_INLINE f32 fast_cos(f32 x) { return ::cosf(x); }
SN_INLINE f32 fast_reciprocal(f32 x) { return flushed(1.f / flushed(x)); }

SN_INLINE f32 unpack_one(f16 x) {
  const u32 sign = (x.bits & 0x8000u) << 16;
  const u32 exponent = (x.bits >> 10) & 31u;
  const u32 mantissa = x.bits & 1023u;
  if (exponent == 0) {
    const f32 magnitude = (f32)mantissa * 5.9604644775390625e-08f;  // 2^-24
    return sign ? -magnitude : magnitude;
  }
  const u32 wide_exponent = exponent == 31 ? 255u : exponent + 112u;
  return from_bits(sign | (wide_exponent << 23) | (mantissa << 13));
}
SN_INLINE f16 pack_f16(f32 x) {
  const u32 bits = bits_of(x);
  const u32 sign = (bits >> 16) & 0x8000u;
  const u32 magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return {(u16)(sign | 0x7e00u)};   // NaN
  if (magnitude >= 0x477ff000u) return {(u16)(sign | 0x7c00u)};  // >= 65520
  if (magnitude < 0x38800000u)  // below the smallest normal: a multiple of 2^-24
    return {(u16)(sign | (u32)::rintf(from_bits(magnitude) * 16777216.f))};
  const u32 rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return {(u16)(sign | ((rounded - 0x38000000u) >> 13))};
}
SN_INLINE bf16 pack_bf16(f32 x) {
  const u32 bits = bits_of(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {(u16)((bits >> 16) | 0x40u)};
  return {(u16)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}
SN_INLINE u32 pack_f16x2(f32 first, f32 second) {
  return pack_f16(first).bits | (u32)pack_f16(second).bits << 16;
}
SN_INLINE u32 pack_bf16x2(f32 first, f32 second) {
  return pack_bf16(first).bits | (u32)pack_bf16(second).bits << 16;
}

// Applies `of` to each half of two packed words.
template <class Of>
SN_INLINE u32 each_f16(u32 a, u32 b, Of of) {
  const auto half = [&](int shift) {
    return of(unpack_one(f16{(u16)(a >> shift)}), unpack_one(f16{(u16)(b >> shift)}));
  };
  return pack_f16x2(half(0), half(16));
}
template <class Of>
SN_INLINE u32 each_bf16(u32 a, u32 b, Of of) {
  return pack_bf16x2(of(lower_bf16(a), lower_bf16(b)), of(upper_bf16(a), upper_bf16(b)));
}
SN_INLINE u32 fmax_nan_f16(u32 a, u32 b) { return each_f16(a, b, fmax_nan); }
SN_INLINE u32 fmin_nan_f16(u32 a, u32 b) { return each_f16(a, b, fmin_nan); }
SN_INLINE u32 fmax_nan_bf16(u32 a, u32 b) { return each_bf16(a, b, fmax_nan); }
SN_INLINE u32 fmin_nan_bf16(u32 a, u32 b) { return each_bf16(a, b, fmin_nan); }

}  // namespace sn
