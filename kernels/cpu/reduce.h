// Reductions of one vector to a scalar in a fixed order: a butterfly over lanes SN_LANES/2 apart,
// then half that, down to 1. Sums, products, extremes, positions of extremes. Needs types.h,
// math.h. NaN wins every extreme; among equal values the lowest index wins.

namespace sn {

#ifdef __clang__
template <class T, T... lane>
struct LaneList {};
template <int step, class V, int... lane>
SN_INLINE V swap_lanes(V v, LaneList<int, lane...>) {
  return __builtin_shufflevector(v, v, (lane ^ step)...);
}
template <int step, class V>
SN_INLINE V swap_lanes(V v) {
  return swap_lanes<step>(v, __make_integer_seq<LaneList, int, SN_LANES>{});
}
#else
template <int step>
SN_INLINE f32v swap_lanes(f32v v) {
  return __builtin_shuffle(v, iota_i32() ^ step);
}
template <int step>
SN_INLINE i32v swap_lanes(i32v v) {
  return __builtin_shuffle(v, iota_i32() ^ step);
}
template <int step>
SN_INLINE f64v swap_lanes(f64v v) {
  return __builtin_shuffle(v, iota_i64() ^ (i64)step);
}
template <int step>
SN_INLINE i64v swap_lanes(i64v v) {
  return __builtin_shuffle(v, iota_i64() ^ (i64)step);
}
#endif
template <int step>
SN_INLINE boolv swap_lanes(boolv v) {
  return {swap_lanes<step>(v.m)};
}

#define SN_REDUCE(name, expression)           \
  template <int step = SN_LANES / 2, class V> \
  SN_INLINE auto name(V a) {                  \
    V b = swap_lanes<step>(a);                \
    V r = expression;                         \
    if constexpr (step > 1)                   \
      return name<step / 2>(r);               \
    else                                      \
      return first_lane(r);                   \
  }
SN_INLINE bool first_lane(boolv v) { return v.m[0] != 0; }
SN_REDUCE(reduce_add, a + b)
SN_REDUCE(reduce_mul, a* b)
SN_REDUCE(reduce_max, maximum(a, b))
SN_REDUCE(reduce_min, minimum(a, b))
#undef SN_REDUCE

// Whether (value, index) comes before (best, best_index). Values are all NaN or all comparable
// here.
template <class V, class I>
SN_INLINE auto wins_tie(V value, I index, V best, I best_index) {
  auto equal = logical_or(eq(value, best), logical_and(isnan(value), isnan(best)));
  return logical_and(equal, lt(index, best_index));
}
template <class V, class I>
SN_INLINE void argmax_step(V& best, I& best_index, V value, I index) {
  auto greater = logical_and(logical_not(isnan(best)), logical_or(isnan(value), gt(value, best)));
  auto better = logical_or(greater, wins_tie(value, index, best, best_index));
  best = select(better, value, best);
  best_index = select(better, index, best_index);
}
template <class V, class I>
SN_INLINE void argmin_step(V& best, I& best_index, V value, I index) {
  auto less = logical_and(logical_not(isnan(best)), logical_or(isnan(value), lt(value, best)));
  auto better = logical_or(less, wins_tie(value, index, best, best_index));
  best = select(better, value, best);
  best_index = select(better, index, best_index);
}

// The index of the vector's largest (smallest) value.
template <int step = SN_LANES / 2, class V, class I>
SN_INLINE auto reduce_argmax(V value, I index) {
  argmax_step(value, index, swap_lanes<step>(value), swap_lanes<step>(index));
  if constexpr (step > 1)
    return reduce_argmax<step / 2>(value, index);
  else
    return first_lane(index);
}
template <int step = SN_LANES / 2, class V, class I>
SN_INLINE auto reduce_argmin(V value, I index) {
  argmin_step(value, index, swap_lanes<step>(value), swap_lanes<step>(index));
  if constexpr (step > 1)
    return reduce_argmin<step / 2>(value, index);
  else
    return first_lane(index);
}

}  // namespace sn
