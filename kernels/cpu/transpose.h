// transpose_load: loads a tile of a transposed input into a small scratch tile, row by row, so that
// the kernel's inner loop reads vectors. Blocks of SN_LANES x SN_LANES go through registers, ragged
// edges lane by lane. Needs types.h and memory.h; also half.h for f16 and bf16.

namespace sn {

// Register constraints: v is any, x the sixteen that non-EVEX instructions can address.
#define SN_SHUFFLE(name, instruction, constraint)                                      \
  template <class V>                                                                   \
  SN_INLINE V name(V a, V b) {                                                         \
    V r;                                                                               \
    asm(instruction " %2, %1, %0" : "=" constraint(r) : constraint(a), constraint(b)); \
    return r;                                                                          \
  }
SN_SHUFFLE(low32, "vunpcklps", "v")  // within every 16 bytes: a0 b0 a1 b1
SN_SHUFFLE(high32, "vunpckhps", "v")
SN_SHUFFLE(low64, "vunpcklpd", "v")
SN_SHUFFLE(high64, "vunpckhpd", "v")
SN_SHUFFLE(low_half, "vperm2f128 $0x20,", "x")  // of 32 bytes: a's low 16, b's low 16
SN_SHUFFLE(high_half, "vperm2f128 $0x31,", "x")
SN_SHUFFLE(even_quarters, "vshuff32x4 $0x88,", "v")  // of 64 bytes: quarters a0 a2 b0 b2
SN_SHUFFLE(odd_quarters, "vshuff32x4 $0xdd,", "v")
#undef SN_SHUFFLE

// Transposes within every 16 bytes: afterwards row i holds column (i % P) of each 16-byte block,
// where P elements fill 16 bytes, and rows P apart hold different blocks of source rows.
template <class V>
SN_INLINE void transpose_in_blocks(V* v) {
  if constexpr (sizeof(v[0][0]) == 4) {
#pragma GCC unroll 16
    for (int i = 0; i < SN_LANES; i += 4) {
      V a = low32(v[i], v[i + 1]), b = high32(v[i], v[i + 1]);
      V c = low32(v[i + 2], v[i + 3]), d = high32(v[i + 2], v[i + 3]);
      v[i] = low64(a, c), v[i + 1] = high64(a, c);
      v[i + 2] = low64(b, d), v[i + 3] = high64(b, d);
    }
  } else {
#pragma GCC unroll 16
    for (int i = 0; i < SN_LANES; i += 2) {
      V a = low64(v[i], v[i + 1]), b = high64(v[i], v[i + 1]);
      v[i] = a, v[i + 1] = b;
    }
  }
}
// Transposes the 16-byte blocks themselves: a square of 1, 2 or 4 blocks per side.
template <class V>
SN_INLINE void transpose_blocks(V* v) {
  constexpr int side = 16 / sizeof(v[0][0]);
  if constexpr (sizeof(V) == 32) {
#pragma GCC unroll 16
    for (int i = 0; i < side; ++i) {
      V a = v[i], b = v[i + side];
      v[i] = low_half(a, b), v[i + side] = high_half(a, b);
    }
  } else if constexpr (sizeof(V) == 64) {
#pragma GCC unroll 16
    for (int i = 0; i < side; ++i) {
      V a = v[i], b = v[i + side], c = v[i + 2 * side], d = v[i + 3 * side];
      V even_ab = even_quarters(a, b), odd_ab = odd_quarters(a, b);
      V even_cd = even_quarters(c, d), odd_cd = odd_quarters(c, d);
      v[i] = even_quarters(even_ab, even_cd), v[i + 2 * side] = odd_quarters(even_ab, even_cd);
      v[i + side] = even_quarters(odd_ab, odd_cd), v[i + 3 * side] = odd_quarters(odd_ab, odd_cd);
    }
  }
}

// dst[r * dst_stride + c] = src[r + c * src_col_stride], as the compute type. `next` is the start
// of the following tile, or null; it is prefetched, since hardware prefetchers do not predict it.
template <class D, class T>
static __attribute__((noinline)) void transpose_load(D* dst, i64 dst_stride, const T* src,
                                                     i64 src_col_stride, i64 rows, i64 cols,
                                                     const T* next = nullptr) {
  typedef decltype(load(src)) V;
  i64 whole_rows = 0, whole_cols = 0;
  if constexpr (sizeof(D) >= 4 && SN_IN_REGISTER(sizeof(V))) {
    whole_rows = rows / SN_LANES * SN_LANES, whole_cols = cols / SN_LANES * SN_LANES;
    for (i64 r = 0; r < whole_rows; r += SN_LANES)
      for (i64 c = 0; c < whole_cols; c += SN_LANES) {
        V v[SN_LANES];
        const T* s = src + r + c * src_col_stride;
#pragma GCC unroll 16
        for (int i = 0; i < SN_LANES; ++i) v[i] = load(s + i * src_col_stride);
        if (next && r * sizeof(T) % 64 == 0) {
          const T* upcoming = next + r + c * src_col_stride;
#pragma GCC unroll 16
          for (int i = 0; i < SN_LANES; ++i)
            __builtin_prefetch(upcoming + i * src_col_stride, 0, 2);
        }
        transpose_in_blocks(v);
        transpose_blocks(v);
        D* d = dst + r * dst_stride + c;
#pragma GCC unroll 16
        for (int i = 0; i < SN_LANES; ++i) store(d + i * dst_stride, v[i]);
      }
  }
  for (i64 c = 0; c < cols; ++c)
    for (i64 r = c < whole_cols ? whole_rows : 0; r < rows; ++r)
      dst[r * dst_stride + c] = unpack_one(src[r + c * src_col_stride]);
}

}  // namespace sn
