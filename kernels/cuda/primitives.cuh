// GPU primitives that plain C++ lacks: thread ids, barriers, exchanges between lanes and between
// the blocks of a cluster, 16-byte accesses, special instructions. kernels/simt/primitives.h
// implements the same on the CPU; everything else in kernels/cuda is built on them. Needs
// types.cuh; SN_THREADS, SN_BLOCKS_AT_ONCE, SN_CLUSTER, SN_KEEPS_RESULTS.

// Host compilers' names for numbers without a literal, which NVRTC does not know.
#define __builtin_inff() __int_as_float(0x7f800000)
#define __builtin_inf() __longlong_as_double(0x7ff0000000000000ll)
#define __builtin_nanf(text) __int_as_float(0x7fc00000)
#define __builtin_nan(text) __longlong_as_double(0x7ff8000000000000ll)

namespace sn {

// A kernel's only argument: buffer addresses, scalars, the number of programs.
template <int count>
struct Arguments {
  u64 words[count];
};
#define SN_KERNEL(name, count)                                \
  extern "C" __global__ void __launch_bounds__(SN_THREADS, SN_BLOCKS_AT_ONCE)    \
      name(const __grid_constant__ sn::Arguments<count> arguments)

// Buffers that are only read, and buffers that are written (and perhaps read back). The former are
// not __restrict__: the compiler could then move their loads before the wait for the kernel that
// writes them.
template <class T>
using In = const T*;
template <class T>
using Out = T*;
#define SN_INPUT(T, name, index) const In<T> name = (const T*)arguments.words[index]
#define SN_OUTPUT(T, name, index) const Out<T> name = (T*)arguments.words[index]

SN_INLINE i32 thread_index() { return threadIdx.x; }
SN_INLINE i64 block_index() { return blockIdx.x; }
SN_INLINE i64 block_count() { return gridDim.x; }
#if SN_CLUSTER > 1
SN_INLINE i32 cluster_rank() {
  u32 rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
#else
SN_INLINE i32 cluster_rank() { return 0; }
#endif

// Programmatic dependent launch: a kernel may start before the previous one has ended. Call before
// touching memory.
SN_INLINE void wait_for_previous_kernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
// Lets the next kernel be scheduled; it waits for the end of this one before reading memory.
SN_INLINE void let_next_kernel_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// --- barriers: for all threads of the block or cluster; make earlier writes visible ---

SN_INLINE void block_barrier() { __syncthreads(); }
#if SN_CLUSTER > 1
// Split barrier: code between arrival and wait does not block. The first arrival only signals
// "started".
SN_INLINE void cluster_has_started() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
SN_INLINE void wait_for_cluster() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
SN_INLINE void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
#endif

// --- exchange ---

// The value of lane (own ^ mask). All 32 lanes take part.
template <class T>
SN_INLINE T shuffle_xor(T value, i32 mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}
SN_INLINE bool shuffle_xor(bool value, i32 mask) {
  return __shfl_xor_sync(0xffffffffu, (i32)value, mask) != 0;
}

#define SN_SHARED(T, name, count) __shared__ T name[count]
template <class T>
SN_INLINE T get(const T* array, i32 index) {
  return array[index];
}
template <class T>
SN_INLINE void put(T* array, i32 index, T value) {
  array[index] = value;
}
// An array that is accessed in packs as well.
#define SN_SHARED_RUN(T, name, count) __shared__ __align__(16) T name[count]
template <int W, class T>
SN_INLINE Pack<T, W> get_pack(const T* array, i32 index) {
  return *(const Pack<T, W>*)(array + index);
}
template <int W, class T>
SN_INLINE void put_pack(T* array, i32 index, Pack<T, W> pack) {
  *(Pack<T, W>*)(array + index) = pack;
}

// A pack from any index on, in a SN_SHARED_RUN: pairs of 16-bit elements that share a word are
// written together.
template <int W, class T>
SN_INLINE void put_unaligned(T* array, i32 index, Pack<T, W> pack) {
  if constexpr (sizeof(T) == 2 && W == 8) {
    u32 words[4];
    memcpy(words, &pack, sizeof words);
    const bool is_odd = index & 1;
    u32* const pairs = (u32*)(array + index + is_odd);
    SN_UNROLL
    for (int i = 0; i < 3; ++i)
      pairs[i] = __funnelshift_r(words[i], words[i + 1], is_odd ? 16 : 0);
    if (!is_odd) pairs[3] = words[3];
    if (is_odd) array[index] = pack.element[0];
    if (is_odd) array[index + 7] = pack.element[7];
  } else {
    SN_UNROLL
    for (int w = 0; w < W; ++w) array[index + w] = pack.element[w];
  }
}

#if SN_CLUSTER > 1
// Writes element `index` of the same array in block `rank` of the cluster (distributed shared
// memory).
template <class T>
SN_INLINE void put_in_block(T* array, i32 index, i32 rank, T value) {
  const u32 here = (u32)__cvta_generic_to_shared(array + index);
  u32 there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank));
  if constexpr (sizeof(T) == 8) {
    u64 bits;
    memcpy(&bits, &value, 8);
    asm volatile("st.shared::cluster.u64 [%0], %1;" ::"r"(there), "l"(bits) : "memory");
  } else if constexpr (sizeof(T) == 4) {
    u32 bits;
    memcpy(&bits, &value, 4);
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there), "r"(bits) : "memory");
  } else {
    static_assert(sizeof(T) == 1);
    asm volatile("st.shared::cluster.u8 [%0], %1;" ::"r"(there), "r"((u32)value) : "memory");
  }
}

// Cluster exchange with mbarriers: every block waits only for the bytes that the blocks of the
// cluster store into it. A cluster barrier would wait for everything its threads have ever written.
#define SN_EXCHANGES(name, count)   \
  __shared__ u64 name[count];       \
  sn::start_exchanges(name, count);
// Call before cluster_has_started().
SN_INLINE void start_exchanges(u64* exchanges, i32 count) {
  if (thread_index() != 0) return;
  for (i32 i = 0; i < count; ++i)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(
        (u32)__cvta_generic_to_shared(exchanges + i)));
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
// The number of bytes that will be stored into this block.
SN_INLINE void expect_at_exchange(u64* exchanges, i32 index, i32 bytes) {
  if (thread_index() != 0) return;
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                   (u32)__cvta_generic_to_shared(exchanges + index)),
               "r"(bytes)
               : "memory");
}
template <class T>
SN_INLINE void put_at_exchange(T* array, i32 at, i32 rank, T value, u64* exchanges, i32 index) {
  u32 there, exchange;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(there)
      : "r"((u32)__cvta_generic_to_shared(array + at)), "r"(rank));
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(exchange)
      : "r"((u32)__cvta_generic_to_shared(exchanges + index)), "r"(rank));
  if constexpr (sizeof(T) == 8) {
    u64 bits;
    memcpy(&bits, &value, 8);
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(
                     there),
                 "l"(bits), "r"(exchange)
                 : "memory");
  } else {
    static_assert(sizeof(T) == 4);
    u32 bits;
    memcpy(&bits, &value, 4);
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(
                     there),
                 "r"(bits), "r"(exchange)
                 : "memory");
  }
}
// An mbarrier is reused; `parity` is 0 the first time, 1 the second, and so on.
SN_INLINE void wait_for_exchange(u64* exchanges, i32 index, i32 parity) {
  const u32 exchange = (u32)__cvta_generic_to_shared(exchanges + index);
  u32 done;
  do {
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(exchange), "r"(parity)
        : "memory");
  } while (!done);
}
#endif

// --- global memory ---

template <class T>
SN_INLINE T read_one(In<T> from, idx at) {
  return from[at];
}
template <class T>
SN_INLINE T read_back_one(Out<T> from, idx at) {
  return from[at];
}
template <class T>
SN_INLINE void write_one(Out<T> to, idx at, T value) {
  to[at] = value;
}

// L2 eviction priority of an access.
struct Evict {
  SN_INLINE u64 first() {
    u64 policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
  }
  SN_INLINE u64 last() {
    u64 policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    return policy;
  }
};

// 16 bytes if `on`, else 0, without a branch. Volatile, like read_pack().
struct PredicatedLoad {
  template <Reading reading>
  SN_INLINE uint4 words(bool on, const void* from) {
    uint4 read = {};
    if constexpr (reading == kOnce) {
      asm volatile(
          "{\n.reg .pred on;\nsetp.ne.u32 on, %6, 0;\n"
          "@on ld.global.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;\n}"
          : "+r"(read.x), "+r"(read.y), "+r"(read.z), "+r"(read.w)
          : "l"(from), "l"(Evict::first()), "r"((u32)on));
    } else if constexpr (reading == kKept) {
      asm volatile(
          "{\n.reg .pred on;\nsetp.ne.u32 on, %6, 0;\n"
          "@on ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;\n}"
          : "+r"(read.x), "+r"(read.y), "+r"(read.z), "+r"(read.w)
          : "l"(from), "l"(Evict::last()), "r"((u32)on));
    } else if constexpr (reading == kLater) {
      asm volatile(
          "{\n.reg .pred on;\nsetp.ne.u32 on, %6, 0;\n"
          "@on ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];\n}"
          : "+r"(read.x), "+r"(read.y), "+r"(read.z), "+r"(read.w)
          : "l"(from), "l"(0ull), "r"((u32)on));
    } else {
      asm volatile(
          "{\n.reg .pred on;\nsetp.ne.u32 on, %6, 0;\n"
          "@on ld.global.v4.u32 {%0, %1, %2, %3}, [%4];\n}"
          : "+r"(read.x), "+r"(read.y), "+r"(read.z), "+r"(read.w)
          : "l"(from), "l"(0ull), "r"((u32)on));
    }
    return read;
  }
};
// V neighbours in one access of up to 16 bytes; the address must be aligned to their size.
// Volatile, so that nothing moves them before the wait above; kLater allows moving them over
// stores.
template <int V, Reading reading, class T>
SN_INLINE Pack<T, V> read_pack(In<T> from, idx at) {
  Pack<T, V> pack;
  if constexpr (sizeof(pack) == 16) {
    uint4& words = *(uint4*)&pack;
    if constexpr (reading == kOnce) {
      asm volatile("ld.global.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                   : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
                   : "l"(from + at), "l"(Evict::first()));
    } else if constexpr (reading == kKept) {
      asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                   : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
                   : "l"(from + at), "l"(Evict::last()));
    } else if constexpr (reading == kLater) {
      asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
                   : "l"(from + at));
    } else {
      asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
                   : "l"(from + at));
    }
  } else {
    pack = *(const Pack<T, V>*)(from + at);
  }
  return pack;
}
// Reads for vectors of which only the elements from `first` to `count` are in the buffer. They
// touch each aligned 16 bytes that has one of these: the GPU protects nothing smaller, so what lies
// beside them may be beyond the buffer. The other elements are anything.
template <int V, Reading reading, class T>
SN_INLINE Pack<u32, 4> read_words_range(In<T> from, idx at, idx first, idx count) {
  static_assert(V * sizeof(T) == 16);
  const uint4 words = PredicatedLoad::words<reading>(first < V && count > 0, from + at);
  return {words.x, words.y, words.z, words.w};
}
template <int V, Reading reading, class T>
SN_INLINE Pack<T, V> read_pack_range(In<T> from, idx at, idx first, idx count) {
  Pack<T, V> pack;
  if constexpr (sizeof(pack) == 16) {
    const Pack<u32, 4> words = read_words_range<V, reading>(from, at, first, count);
    memcpy(&pack, &words, sizeof pack);
  } else {
    memset(&pack, 0, sizeof pack);
    if (first < V && count > 0) pack = read_pack<V, reading>(from, at);
  }
  return pack;
}
// Elements between the aligned 16 bytes that contain element `at` and that element.
template <int V, class T>
SN_INLINE i32 elements_past_pack(In<T> from, idx at) {
  static_assert(sizeof(Pack<T, V>) == 16);
  return ((u32)(u64)(from + at) & 15u) / (u32)sizeof(T);
}
// 16 bytes from any element on: large elements one by one, small ones put together from the packs
// around them: two loads instead of eight are worth 15 instructions, instead of four they are not.
template <int V, class T>
SN_INLINE Pack<T, V> read_unaligned(In<T> from, idx at, idx first, idx count) {
  static_assert(sizeof(Pack<T, V>) == 16);
  Pack<T, V> pack;
  if constexpr (sizeof(T) >= 4) {
    memset(&pack, 0, sizeof pack);
    SN_UNROLL
    for (int v = 0; v < V; ++v)
      if (first <= v && v < count) pack.element[v] = from[at + v];
    return pack;
  }
  const u64 address = (u64)(from + at);
  const u32 skipped = (u32)address & 15u;
  const i32 in_low = V - (i32)(skipped / sizeof(T));
  const uint4* low_at = (const uint4*)(address - skipped);
  const uint4 low = PredicatedLoad::words<kOften>(first < in_low && count > 0, low_at);
  const bool reaches_high = first < V && count > in_low && skipped != 0;
  const uint4 high = PredicatedLoad::words<kOften>(reaches_high, low_at + 1);
  u32 words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
  SN_UNROLL
  for (int i = 0; i < 6; ++i) words[i] = skipped & 8 ? words[i + 2] : words[i];
  SN_UNROLL
  for (int i = 0; i < 5; ++i) words[i] = skipped & 4 ? words[i + 1] : words[i];
  SN_UNROLL
  for (int i = 0; i < 4; ++i) words[i] = __funnelshift_r(words[i], words[i + 1], (skipped & 3) * 8);
  memcpy(&pack, words, sizeof pack);
  return pack;
}
template <int V, class T>
SN_INLINE void write_pack(Out<T> to, idx at, Pack<T, V> pack) {
  if constexpr (SN_KEEPS_RESULTS && sizeof(pack) == 16) {
    const uint4 words = *(uint4*)&pack;
    asm volatile("st.global.L2::cache_hint.v4.u32 [%0], {%1, %2, %3, %4}, %5;" ::"l"(to + at),
                 "r"(words.x), "r"(words.y), "r"(words.z), "r"(words.w), "l"(Evict::last())
                 : "memory");
  } else {
    *(Pack<T, V>*)(to + at) = pack;
  }
}

// The upper or the lower elements of an aligned pack, in at most three accesses, whose sizes are
// the powers of two in their number.
struct PartialPack {
  template <class T>
  SN_INLINE void write_upper(Out<T> to, idx at, i32 count, Pack<T, 8> pack) {
    const uint4 words = *(const uint4*)&pack;
    u16* const target = (u16*)to + at;
    const bool has_four = count & 4, has_two = count & 2;
    if (has_four) *(uint2*)(target + 4) = make_uint2(words.z, words.w);
    if (has_two) *(u32*)(target + (has_four ? 2 : 6)) = has_four ? words.y : words.w;
    const u32 pair = has_four ? (has_two ? words.x : words.y) : (has_two ? words.z : words.w);
    if (count & 1) target[8 - count] = (u16)(pair >> 16);
  }
  template <class T>
  SN_INLINE void write_lower(Out<T> to, idx at, i32 count, Pack<T, 8> pack) {
    const uint4 words = *(const uint4*)&pack;
    u16* const target = (u16*)to + at;
    const bool has_four = count & 4, has_two = count & 2;
    if (has_four) *(uint2*)target = make_uint2(words.x, words.y);
    if (has_two) *(u32*)(target + (has_four ? 4 : 0)) = has_four ? words.z : words.x;
    const u32 pair = has_four ? (has_two ? words.w : words.z) : (has_two ? words.y : words.x);
    if (count & 1) target[count - 1] = (u16)pair;
  }
  template <class T>
  SN_INLINE void write_upper(Out<T> to, idx at, i32 count, Pack<T, 4> pack) {
    const uint4 words = *(const uint4*)&pack;
    u32* const target = (u32*)to + at;
    if (count & 2) *(uint2*)(target + 2) = make_uint2(words.z, words.w);
    if (count & 1) target[4 - count] = count & 2 ? words.y : words.w;
  }
  template <class T>
  SN_INLINE void write_lower(Out<T> to, idx at, i32 count, Pack<T, 4> pack) {
    const uint4 words = *(const uint4*)&pack;
    u32* const target = (u32*)to + at;
    if (count & 2) *(uint2*)target = make_uint2(words.x, words.y);
    if (count & 1) target[count - 1] = count & 2 ? words.z : words.x;
  }
};
// Writes the elements from `first` to `count` of an aligned pack.
template <int V, class T>
SN_INLINE void write_pack_range(Out<T> to, idx at, idx first, idx count, Pack<T, V> pack) {
  if (first <= 0 && count >= V) return write_pack<V>(to, at, pack);
  if constexpr (sizeof(pack) == 16 && (V == 8 || V == 4)) {
    if (first >= V || count <= 0) return;
    if (count >= V) return PartialPack::write_upper(to, at, V - (i32)first, pack);
    if (first <= 0) return PartialPack::write_lower(to, at, (i32)count, pack);
  }
  SN_UNROLL
  for (int v = 0; v < V; ++v)
    if (v >= first && v < count) to[at + v] = pack.element[v];
}

// --- prefetch into shared memory (cp.async) ---

// An array of packs of W elements, at byte offset `at` in dynamic shared memory.
#define SN_FETCHED(T, W, name, count, at) \
  Pack<T, W>* const name = (Pack<T, W>*)(sn::fetched_bytes + at)
extern __shared__ __align__(16) unsigned char fetched_bytes[];

// Starts copying 16 bytes into pack `index`. Values this thread read from there are in registers
// long before the copy arrives.
template <int W, Reading reading, class T>
SN_INLINE void fetch_pack(Pack<T, W>* packs, i32 index, In<T> from, idx at) {
  static_assert(sizeof(Pack<T, W>) == 16);
  auto to = (u32)__cvta_generic_to_shared(packs + index);
  if constexpr (reading == kOnce || reading == kKept) {
    // The maximum equals `to`, which ptxas cannot know: it would otherwise put a part of the
    // address into a uniform register, which ptxas 13.0 encodes wrongly together with a cache
    // policy (an illegal instruction).
    asm("max.u32 %0, %0, %1;" : "+r"(to) : "r"((u32)index));
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(to),
                 "l"(from + at), "l"(reading == kOnce ? Evict::first() : Evict::last())
                 : "memory");
  } else {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from + at) : "memory");
  }
}
// Commits a group of copies; then: waits until all but the last `left` of this thread's groups have
// arrived.
SN_INLINE void end_of_fetch() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int left>
SN_INLINE void wait_for_fetched() {
  asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
}

// --- instructions ---

// Maximum or minimum; NaN if either is NaN.
SN_INLINE f32 fmax_nan(f32 a, f32 b) {
  f32 r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
SN_INLINE f32 fmin_nan(f32 a, f32 b) {
  f32 r;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
// Elementwise on packed halves.
SN_INLINE u32 fmax_nan_f16(u32 a, u32 b) {
  asm("max.NaN.f16x2 %0, %0, %1;" : "+r"(a) : "r"(b));
  return a;
}
SN_INLINE u32 fmin_nan_f16(u32 a, u32 b) {
  asm("min.NaN.f16x2 %0, %0, %1;" : "+r"(a) : "r"(b));
  return a;
}
SN_INLINE u32 fmax_nan_bf16(u32 a, u32 b) {
  asm("max.NaN.bf16x2 %0, %0, %1;" : "+r"(a) : "r"(b));
  return a;
}
SN_INLINE u32 fmin_nan_bf16(u32 a, u32 b) {
  asm("min.NaN.bf16x2 %0, %0, %1;" : "+r"(a) : "r"(b));
  return a;
}
// 2^x and 1/x, accurate to two ulps; subnormals are flushed to 0.
SN_INLINE f32 fast_exp2(f32 x) {
  f32 r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
SN_INLINE f32 fast_reciprocal(f32 x) {
  f32 r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}

// For angles within pi of 0, accurate to 2^-20.
SN_INLINE f32 fast_sin(f32 x) {
  f32 r;
  asm("sin.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
SN_INLINE f32 fast_cos(f32 x) {
  f32 r;
  asm("cos.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}

SN_INLINE f32 unpack_one(f16 x) {
  f32 r;
  asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(x.bits));
  return r;
}
SN_INLINE f32 from_bits(u32 bits) { return __uint_as_float(bits); }
SN_INLINE u32 bits_of(f32 x) { return __float_as_uint(x); }
// Halves of a packed bf16x2. With plain shifts the compiler keeps the unpacked values live across
// stages, in twice the registers; with these instructions it does not (NVRTC 13.0).
SN_INLINE f32 lower_bf16(u32 packed) {
  u32 r;
  asm("prmt.b32 %0, %1, 0, 0x1044;" : "=r"(r) : "r"(packed));
  return from_bits(r);
}
SN_INLINE f32 upper_bf16(u32 packed) {
  u32 r;
  asm("prmt.b32 %0, %1, 0, 0x3244;" : "=r"(r) : "r"(packed));
  return from_bits(r);
}
SN_INLINE f16 pack_f16(f32 x) {
  f16 r;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r.bits) : "f"(x));
  return r;
}
SN_INLINE bf16 pack_bf16(f32 x) {
  bf16 r;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r.bits) : "f"(x));
  return r;
}
// Packs two; the first is the lower half.
SN_INLINE u32 pack_f16x2(f32 first, f32 second) {
  u32 r;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(second), "f"(first));
  return r;
}
SN_INLINE u32 pack_bf16x2(f32 first, f32 second) {
  u32 r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(second), "f"(first));
  return r;
}

}  // namespace sn
