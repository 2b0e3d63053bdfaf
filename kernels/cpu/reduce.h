// Reductions of one vector to a scalar, in a fixed order: a butterfly over lanes SN_LANES/2 apart,
// then half that, down to 1. The kernel's text declares the reductions it uses with SN_REDUCTION.
// Needs types.h, math.h. NaN is better than every number; of equal values the one with the lowest
// index is.

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

SN_INLINE bool first_lane(boolv v) { return v.m[0] != 0; }

// A reduction, by how it combines two partial results a and b.
#define SN_REDUCTION(Kind, ...)                                 \
  struct Kind {                                                 \
    template <class V>                                          \
    __attribute__((always_inline)) static V combine(V a, V b) { \
      return __VA_ARGS__;                                       \
    }                                                           \
  };
// A reduction to a position, by whether a value a is better than b.
#define SN_POSITION_REDUCTION(Kind, ...)                          \
  struct Kind {                                                   \
    template <class V>                                            \
    __attribute__((always_inline)) static auto better(V a, V b) { \
      return __VA_ARGS__;                                         \
    }                                                             \
  };

// All lanes of a vector.
template <class Kind, int step = SN_LANES / 2, class V>
SN_INLINE auto reduce_lanes(V a) {
  const V r = Kind::combine(a, swap_lanes<step>(a));
  if constexpr (step > 1)
    return reduce_lanes<Kind, step / 2>(r);
  else
    return first_lane(r);
}

// Whether (value, index) comes before (best, best_index). Values are all NaN or all comparable
// here.
template <class V, class I>
SN_INLINE auto wins_tie(V value, I index, V best, I best_index) {
  auto equal = logical_or(eq(value, best), logical_and(isnan(value), isnan(best)));
  return logical_and(equal, lt(index, best_index));
}
template <class Kind, class V, class I>
SN_INLINE void take_better(V& best, I& best_index, V value, I index) {
  auto beats =
      logical_and(logical_not(isnan(best)), logical_or(isnan(value), Kind::better(value, best)));
  auto better = logical_or(beats, wins_tie(value, index, best, best_index));
  best = select(better, value, best);
  best_index = select(better, index, best_index);
}

// The index of the vector's best value.
template <class Kind, int step = SN_LANES / 2, class V, class I>
SN_INLINE auto reduce_positions(V value, I index) {
  take_better<Kind>(value, index, swap_lanes<step>(value), swap_lanes<step>(index));
  if constexpr (step > 1)
    return reduce_positions<Kind, step / 2>(value, index);
  else
    return first_lane(index);
}

}  // namespace sn
