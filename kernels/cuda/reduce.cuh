// Reductions over the threads that share a row: first among the lanes of a warp, then, where a row
// takes several warps or several blocks, through slots in shared memory. Every thread gets the
// result, computed in the same order everywhere. The kernel's text declares the reductions it uses
// with SN_REDUCTION. Needs types.cuh, primitives, math.cuh.
//
// A row has G threads of a block (a power of two), a block has several rows of threads, SN_CLUSTER
// blocks share a row. The slots of a reduction are an array in shared memory, kSlots<G> per row.

namespace sn {

// A reduction, by how it combines two partial results a and b.
#define SN_REDUCTION(Kind, ...)            \
  struct Kind {                            \
    template <class T>                     \
    static SN_MEMBER T combine(T a, T b) { \
      return __VA_ARGS__;                  \
    }                                      \
  };

// A value and its position; among equal values the lowest position wins, NaN wins over numbers.
template <class V, class I>
struct Placed {
  V value;
  I position;
};
template <class V, class I>
SN_INLINE Placed<V, I> shuffle_xor(Placed<V, I> x, i32 mask) {
  return {shuffle_xor(x.value, mask), shuffle_xor(x.position, mask)};
}
template <class V, class I>
SN_INLINE bool wins_tie(Placed<V, I> a, Placed<V, I> b) {
  return (a.value == b.value || (isnan(a.value) && isnan(b.value))) && a.position < b.position;
}
// A reduction to a position, by whether a value a is better than b.
#define SN_POSITION_REDUCTION(Kind, ...)                                                  \
  struct Kind {                                                                           \
    template <class V>                                                                    \
    static SN_MEMBER bool better(V a, V b) {                                              \
      return __VA_ARGS__;                                                                 \
    }                                                                                     \
    template <class V, class I>                                                           \
    static SN_MEMBER bool beats(Placed<V, I> b, Placed<V, I> a) {                         \
      return !isnan(a.value) && (isnan(b.value) || better(b.value, a.value));             \
    }                                                                                     \
    template <class V, class I>                                                           \
    static SN_MEMBER Placed<V, I> combine(Placed<V, I> a, Placed<V, I> b) {               \
      return beats(b, a) || wins_tie(b, a) ? b : a;                                       \
    }                                                                                     \
    /* The same for a b behind all of a. */                                               \
    template <class V, class I>                                                           \
    static SN_MEMBER Placed<V, I> next(Placed<V, I> a, Placed<V, I> b) {                  \
      return beats(b, a) ? b : a;                                                         \
    }                                                                                     \
  };

template <int G>
inline constexpr int kWarpsPerRow = G > 32 ? G / 32 : 1;
template <int G>
inline constexpr int kSlots = kWarpsPerRow<G>* SN_CLUSTER;

// Over `width` neighbouring lanes, a power of two.
template <class Kind, int width, class T>
SN_INLINE T reduce_lanes(T value) {
  SN_UNROLL
  for (int mask = width / 2; mask > 0; mask /= 2)
    value = Kind::combine(value, shuffle_xor(value, mask));
  return value;
}

// The type of a partial result in its slot: blocks do not exchange single bytes.
template <class T>
struct SlotOf {
  using type = T;
};
template <>
struct SlotOf<bool> {
  using type = i32;
};
template <class T>
using Slot = typename SlotOf<T>::type;

// The slot of the calling thread's warp.
template <int G>
SN_INLINE i32 own_slot(i32 row) {
  return row * kSlots<G> + cluster_rank() * kWarpsPerRow<G> + thread_index() % G / 32;
}
// Stores a warp's partial result into the row's slots, in every block that shares the row.
template <int G, class Array, class T>
SN_INLINE void put_part(Array& slots, i32 row, T part SN_WHERE) {
  const i32 lane = thread_index() % 32;
#if SN_CLUSTER > 1
  static_assert(G >= 32);
  if (lane < SN_CLUSTER) put_in_block(slots, own_slot<G>(row), lane, (Slot<T>)part SN_HERE);
#else
  if (lane == 0) put(slots, own_slot<G>(row), (Slot<T>)part SN_HERE);
#endif
}
#if SN_CLUSTER > 1
// The same with an exchange barrier (mbarrier) instead of the block barrier.
template <int G, class Array, class T, class Exchanges>
SN_INLINE void bring_part(Array& slots, i32 row, T part, Exchanges& exchanges, i32 index SN_WHERE) {
  static_assert(G >= 32);
  const i32 lane = thread_index() % 32;
  if (lane < SN_CLUSTER)
    put_at_exchange(slots, own_slot<G>(row), lane, (Slot<T>)part, exchanges, index SN_HERE);
}
#endif
// After a barrier or mbarrier wait: the row's result.
template <class Kind, int G, class Array, class T>
SN_INLINE T take_parts(Array& slots, i32 row, T identity SN_WHERE) {
  constexpr int count = kSlots<G>;
  constexpr int width = count < 32 ? count : 32;
  const i32 lane = thread_index() % width;
  T value = identity;
  SN_UNROLL
  for (int i = 0; i < count; i += width)
    value = Kind::combine(value, (T)get(slots, row * count + i + lane SN_HERE));
  return reduce_lanes<Kind, width>(value);
}

// Values and their positions have separate slots.
template <int G, class Values, class Positions, class V, class I>
SN_INLINE void put_part(Values& values, Positions& positions, i32 row,
                        Placed<V, I> part SN_WHERE) {
  put_part<G>(values, row, part.value SN_HERE);
  put_part<G>(positions, row, part.position SN_HERE);
}
#if SN_CLUSTER > 1
template <int G, class Values, class Positions, class V, class I, class Exchanges>
SN_INLINE void bring_part(Values& values, Positions& positions, i32 row, Placed<V, I> part,
                          Exchanges& exchanges, i32 index SN_WHERE) {
  bring_part<G>(values, row, part.value, exchanges, index SN_HERE);
  bring_part<G>(positions, row, part.position, exchanges, index SN_HERE);
}
#endif
template <class Kind, int G, class Values, class Positions, class V, class I>
SN_INLINE Placed<V, I> take_parts(Values& values, Positions& positions, i32 row,
                                  Placed<V, I> identity SN_WHERE) {
  constexpr int count = kSlots<G>;
  constexpr int width = count < 32 ? count : 32;
  const i32 lane = thread_index() % width;
  Placed<V, I> part = identity;
  SN_UNROLL
  for (int i = 0; i < count; i += width) {
    const i32 slot = row * count + i + lane;
    part = Kind::combine(part, Placed<V, I>{(V)get(values, slot SN_HERE),
                                               get(positions, slot SN_HERE)});
  }
  return reduce_lanes<Kind, width>(part);
}

}  // namespace sn
