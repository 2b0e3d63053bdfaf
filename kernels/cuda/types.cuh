// Types of generated GPU kernels: scalars, comparisons, select, conversions. Pasted first into
// every CUDA kernel, whether a GPU runs it or (SN_SIMT) the SIMT executor. Scalar code: neighbours
// that a thread handles together are arrays.

#ifdef SN_SIMT
#define SN_MEMBER inline __attribute__((always_inline))
#define SN_RARE static __attribute__((noinline))
#define SN_UNROLL
// Memory accesses carry the line of the kernel's text.
#define SN_WHERE , int line = __builtin_LINE()
#define SN_HERE , line
#else
#define SN_MEMBER __device__ __forceinline__
#define SN_RARE static __device__ __noinline__
#define SN_UNROLL _Pragma("unroll")
#define SN_WHERE
#define SN_HERE
#endif
#define SN_INLINE static SN_MEMBER

namespace sn {

typedef float f32;
typedef double f64;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
struct f16 {
  u16 bits;
};
struct bf16 {
  u16 bits;
};

// The type of buffer offsets and what they are computed from.
#if SN_WIDE_INDEX
typedef i64 idx;
typedef u64 unsigned_idx;
#else
typedef i32 idx;
typedef u32 unsigned_idx;
#endif

// 0 <= at < limit, for limits that are not negative.
SN_INLINE bool is_below(idx at, idx limit) { return (unsigned_idx)at < (unsigned_idx)limit; }

SN_INLINE idx lesser(idx a, idx b) { return a < b ? a : b; }

// x converted to the type of the first argument.
template <class T>
SN_INLINE T like(T, f64 x) {
  return (T)x;
}

#define SN_COMPARE(name, op)      \
  template <class T>              \
  SN_INLINE bool name(T a, T b) { \
    return a op b;                \
  }
SN_COMPARE(eq, ==)
SN_COMPARE(ne, !=)
SN_COMPARE(lt, <)
SN_COMPARE(le, <=)
SN_COMPARE(gt, >)
SN_COMPARE(ge, >=)
#undef SN_COMPARE

SN_INLINE bool logical_and(bool a, bool b) { return a & b; }
SN_INLINE bool logical_or(bool a, bool b) { return a | b; }
SN_INLINE bool logical_xor(bool a, bool b) { return a ^ b; }
SN_INLINE bool logical_not(bool a) { return !a; }

template <class T>
SN_INLINE T select(bool c, T a, T b) {
  return c ? a : b;
}

// Floats to integers: NaN gives 0, out-of-range values the nearest integer.
template <class T, class S>
SN_INLINE T whole(S x) {
  const S limit = sizeof(T) == 4 ? (S)2147483648.0 : (S)9223372036854775808.0;
  const T most = sizeof(T) == 4 ? (T)0x7fffffff : (T)0x7fffffffffffffffll;
  if (x >= limit) return most;
  if (x < -limit) return -most - 1;
  return x == x ? (T)x : 0;
}

template <class S>
SN_INLINE f32 to_f32(S x) {
  return (f32)x;
}
template <class S>
SN_INLINE f64 to_f64(S x) {
  return (f64)x;
}
template <class S>
SN_INLINE i32 to_i32(S x) {
  return (i32)x;
}
template <class S>
SN_INLINE i64 to_i64(S x) {
  return (i64)x;
}
SN_INLINE i32 to_i32(f32 x) { return whole<i32>(x); }
SN_INLINE i32 to_i32(f64 x) { return whole<i32>(x); }
SN_INLINE i64 to_i64(f32 x) { return whole<i64>(x); }
SN_INLINE i64 to_i64(f64 x) { return whole<i64>(x); }
template <class S>
SN_INLINE bool to_bool(S x) {
  return x != S(0);
}

// Caching hints for reading inputs.
enum Reading {
  kOnce,  // streaming: other data in the caches is worth more
  kKept,  // worth keeping in the L2 over other data
  kOften,
  kLater,  // often, by a program that began long ago: may be moved over its stores
};

// V neighbours as in memory.
template <class T, int V>
struct alignas(sizeof(T) * V) Pack {
  T element[V];
};

}  // namespace sn
