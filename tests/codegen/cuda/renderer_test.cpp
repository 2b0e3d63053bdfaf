// The renderer's decisions, checked in its text: access widths, masks, use of shared memory,
// barriers. Values are tested on devices.
#include "src/codegen/cuda/renderer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "src/codegen/cuda/values.h"
#include "src/tile/builder.h"

namespace sinter {
namespace {

using tile::Axis;
using tile::Builder;
using tile::kNoValue;
using tile::Mapping;
using tile::ValueId;

int count_of(const std::string& text, const std::string& what) {
  int count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++count;
  return count;
}

constexpr Mapping kWarp{
    .threads = 32, .threads_per_row = 32, .vector = 4, .cluster = 1, .wide_index = false};

class CudaRendererTest : public testing::Test {
 protected:
  Builder b{"rendered"};

  // The kernel without its headers.
  std::string render(const Mapping& mapping) {
    b.set_mapping(mapping);
    const std::string text = render_cuda(b.program()).text();
    return text.substr(text.find("\nSN_KERNEL("));
  }
  ValueId load(int buffer, ValueId at, ValueId mask = kNoValue) {
    return b.load(buffer, at, mask, mask == kNoValue ? kNoValue : b.real(0, DType::f32));
  }
  ValueId reduce(ReduceKind kind, ValueId value) { return b.reduce(kind, std::vector{value})[0]; }
  // The program's row of `count` columns; rows are `stride` apart.
  ValueId row(ValueId stride, std::int64_t count = 128) {
    return b.add(b.mul(b.program_id(), stride), b.arange(Axis::cols, count));
  }
  void copy_rows(DType dtype, ValueId stride, std::int64_t count = 128) {
    const int x = b.add_buffer("x", dtype, false);
    const int y = b.add_buffer("y", dtype, true);
    const ValueId at = row(stride, count);
    b.store(y, at, load(x, at), kNoValue);
  }
};

// Rows of n elements, cut where they reach a multiple of 4.
TEST_F(CudaRendererTest, RowsThatBeginAnywhereHaveWideAccesses) {
  const int x = b.add_buffer("x", DType::f32, false);
  const int shared = b.add_buffer("shared", DType::f32, false);
  const int y = b.add_buffer("y", DType::f32, true);
  const ValueId n = b.add_scalar("n", DType::i64);
  const ValueId first = b.mul(b.program_id(), n);
  const ValueId cols = b.sub(b.arange(Axis::cols, 128), b.modulo(first, b.integer(4)));
  const ValueId mask = b.pointwise(
      Op::logical_and, {b.pointwise(Op::ge, {cols, b.integer(0)}), b.pointwise(Op::lt, {cols, n})});
  const ValueId at = b.add(cols, first);
  b.store(y, at, b.pointwise(Op::add, {load(x, at, mask), load(shared, cols, mask)}), mask);
  const std::string text = render(kWarp);
  EXPECT_EQ(count_of(text, "load_range<4, 4"), 1) << text;
  EXPECT_EQ(count_of(text, "load_range<4, 1"), 1) << "put together from packs: " << text;
  EXPECT_EQ(count_of(text, "store_range<4, 4>"), 1) << text;
  EXPECT_EQ(render_cuda(b.program()).alignments, (std::vector<std::uint8_t>{16, 4, 16}));
}

TEST_F(CudaRendererTest, RowsWithoutGapsAreMovedAsOneRun) {
  const int x = b.add_buffer("x", DType::bf16, false);
  const int y = b.add_buffer("y", DType::f32, true);
  const ValueId row = b.add(b.mul(b.program_id(), b.integer(32)), b.arange(Axis::rows, 32));
  const ValueId at = b.add(b.mul(row, b.integer(5)), b.arange(Axis::cols, 5));
  const ValueId mask = b.pointwise(Op::lt, {row, b.add_scalar("n", DType::i64)});
  b.store(y, at, load(x, at, mask), mask);
  Mapping lanes = kWarp;
  lanes.threads_per_row = 1;
  lanes.vector = 1;
  const std::string text = render(lanes);
  EXPECT_EQ(count_of(text, "load_run<8, true"), 1) << text;
  EXPECT_EQ(count_of(text, "store_run<true>"), 1) << text;
  EXPECT_EQ(count_of(text, "block_barrier()"), 2) << text;
  EXPECT_EQ(render_cuda(b.program()).alignments, (std::vector<std::uint8_t>{16, 16}));
}

TEST_F(CudaRendererTest, AnInverseIsNoParametersName) {
  const int x = b.add_buffer("x", DType::f32, false);
  const int y = b.add_buffer("y", DType::f32, true);
  const ValueId n = b.add_scalar("n", DType::i64);
  const ValueId other = b.add_scalar("inverse_of_n", DType::i64);
  const ValueId block = b.quotient(b.program_id(), n);
  const ValueId at = b.add(b.add(b.mul(block, other), n), b.arange(Axis::cols, 128));
  b.store(y, at, load(x, at), kNoValue);
  const std::string text = render(kWarp);
  EXPECT_EQ(count_of(text, " inverse_of_n_ ="), 1) << text;
  EXPECT_EQ(count_of(text, " n_inverse ="), 1) << text;
}

TEST_F(CudaRendererTest, AccessesTake16BytesWhereThatDividesTheOffsets) {
  copy_rows(DType::f32, b.add_scalar("stride", DType::i64, 4));
  const std::string text = render(kWarp);
  EXPECT_EQ(count_of(text, "load_vector<4, 4, "), 1) << text;
  EXPECT_EQ(count_of(text, "store_vector<4, 4>"), 1) << text;
}

TEST_F(CudaRendererTest, AccessesAreNarrowWhereRowsBeginAnywhere) {
  copy_rows(DType::f32, b.add_scalar("stride", DType::i64));
  const std::string text = render(kWarp);
  EXPECT_EQ(count_of(text, "load_vector<4, 1, "), 1) << text;
  EXPECT_EQ(count_of(text, "store_vector<4, 1>"), 1) << text;
}

TEST_F(CudaRendererTest, SixteenBytesAreEightHalves) {
  copy_rows(DType::bf16, b.add_scalar("stride", DType::i64, 16), 256);
  Mapping mapping = kWarp;
  mapping.vector = 8;
  EXPECT_EQ(count_of(render(mapping), "load_vector<8, 8, "), 1) << render(mapping);
}

TEST_F(CudaRendererTest, SixteenBytesAreTwoDoubles) {
  copy_rows(DType::f64, b.add_scalar("stride", DType::i64, 16));
  EXPECT_EQ(count_of(render(kWarp), "load_vector<4, 2, "), 1) << render(kWarp);
}

// The parameter is a divisor of the size.
class CudaTailTest : public CudaRendererTest, public testing::WithParamInterface<int> {};

TEST_P(CudaTailTest, IsReadInPartWhereItCutsVectors) {
  const int x = b.add_buffer("x", DType::f32, false);
  const int y = b.add_buffer("y", DType::f32, true);
  const ValueId size = b.add_scalar("size", DType::i64, GetParam());
  const ValueId at = b.arange(Axis::cols, 128);
  const ValueId mask = b.pointwise(Op::lt, {at, size});
  b.store(y, at, load(x, at, mask), mask);
  const std::string text = render(kWarp);
  const bool whole = GetParam() == 4;
  EXPECT_EQ(count_of(text, "load_part<4, 4, "), whole ? 0 : 1) << text;
  EXPECT_EQ(count_of(text, "store_part<4, 4>"), whole ? 0 : 1) << text;
  EXPECT_EQ(count_of(text, "load_where<4, 4, "), whole ? 1 : 0) << text;
  EXPECT_EQ(count_of(text, "store_vector<4, 4>"), whole ? 1 : 0) << text;
}
INSTANTIATE_TEST_SUITE_P(SizesMultipleOf, CudaTailTest, testing::Values(1, 2, 4),
                         testing::PrintToStringParamName());

TEST_F(CudaRendererTest, ThreadsOutsideTheTileTouchNothing) {
  copy_rows(DType::f32, b.add_scalar("stride", DType::i64, 4), 96);
  const std::string text = render(kWarp);
  EXPECT_EQ(count_of(text, "load_where<4, 4, "), 1) << text;
  EXPECT_EQ(count_of(text, "begin < 96"), 2) << text;
}

TEST_F(CudaRendererTest, ATransposedTileGoesThroughSharedMemory) {
  const int x = b.add_buffer("x", DType::f32, false);
  const int y = b.add_buffer("y", DType::f32, true);
  const ValueId stride = b.add_scalar("stride", DType::i64, 4);
  const ValueId rows = b.arange(Axis::rows, 32);
  const ValueId cols = b.arange(Axis::cols, 32);
  const ValueId value = load(x, b.add(b.mul(cols, stride), rows));
  b.store(y, b.add(b.mul(rows, stride), cols), value, kNoValue);
  Mapping mapping = kWarp;
  mapping.threads = 128;
  mapping.threads_per_row = 8;
  const std::string text = render(mapping);
  EXPECT_EQ(count_of(text, "SN_SHARED(f32, "), 1) << text;
  EXPECT_EQ(count_of(text, std::to_string(33 * 32)), 1) << "one more a column, against conflicts";
  EXPECT_EQ(count_of(text, "load_part<4, 4, "), 1) << "packs along the rows\n" << text;
  EXPECT_EQ(count_of(text, "block_barrier();"), 1) << text;
  EXPECT_LT(text.find("put("), text.find("block_barrier();"));
  EXPECT_LT(text.find("block_barrier();"), text.find("get("));
}

// Rows and columns in a tile are 32-bit; their products with strides are 64-bit.
TEST_F(CudaRendererTest, FarOffsetsAreMultipliedWide) {
  const int x = b.add_buffer("x", DType::f32, false);
  const int y = b.add_buffer("y", DType::f32, true);
  const ValueId stride = b.add_scalar("stride", DType::i64);
  const ValueId at = b.add(b.mul(b.arange(Axis::rows, 16), stride), b.arange(Axis::cols, 32));
  b.store(y, at, load(x, at), kNoValue);
  const std::string text =
      render({.threads = 128, .threads_per_row = 8, .vector = 4, .cluster = 1, .wide_index = true});
  EXPECT_NE(text.find("const i32 row = "), std::string::npos) << text;
  EXPECT_EQ(count_of(text, "idx(row) * stride"), 2) << text;
}

// Waiting for one tile's elements must not delay the loads of the others.
TEST_F(CudaRendererTest, IndicesAreDividedByMultiplyingUnlessTheyAreWide) {
  const int y = b.add_buffer("y", DType::f32, true);
  const int x = b.add_buffer("x", DType::f32, false);
  const ValueId inner = b.add_scalar({.name = "inner", .positive = true});
  const ValueId at = b.arange(Axis::cols, 128);
  b.store(y, at, load(x, b.quotient(at, inner)), kNoValue);
  EXPECT_EQ(count_of(render(kWarp), "positive_quotient(idx(i64(col)), inner_inverse)"), 1);
  Mapping wide = kWarp;
  wide.wide_index = true;
  EXPECT_EQ(count_of(render(wide), "_inverse"), 0) << "an inverse is for 31 bits";
}

class CudaTransposingTest : public CudaRendererTest {
 protected:
  // Two tensors that are contiguous along the tile's rows, and one along its columns.
  std::string sum_of_three(int multiple_of) {
    const int x = b.add_buffer("x", DType::f32, false);
    const int z = b.add_buffer("z", DType::f32, false);
    const int y = b.add_buffer("y", DType::f32, true);
    const ValueId stride = b.add_scalar("stride", DType::i64, multiple_of);
    const ValueId rows = b.arange(Axis::rows, 32);
    const ValueId cols = b.arange(Axis::cols, 32);
    const ValueId across = b.add(rows, b.mul(cols, stride));
    const ValueId along = b.add(b.mul(rows, stride), cols);
    const ValueId sum = b.add(load(x, across), load(z, across));
    b.store(y, along, b.add(sum, load(x, along)), kNoValue);
    return render({.threads = 128, .threads_per_row = 8, .vector = 4});
  }
};

TEST_F(CudaTransposingTest, AllIsLoadedBeforeTheFirstTileIsPut) {
  const std::string text = sum_of_three(4);
  EXPECT_EQ(count_of(text, "put("), 2) << text;
  EXPECT_GT(text.find("put("), text.rfind("load_")) << text;
  EXPECT_EQ(count_of(text, "block_barrier"), 1) << text;
}

TEST_F(CudaTransposingTest, ColumnsThatBeginAnywhereAreReadInAlignedPacks) {
  const std::string text = sum_of_three(1);
  EXPECT_EQ(count_of(text, "read_words_range<4"), 2) << text;
  EXPECT_EQ(count_of(text, "put_elements<f32>"), 2) << text;
  EXPECT_GT(text.find("put_elements<"), text.rfind("load_")) << text;
  EXPECT_EQ(count_of(text, "block_barrier"), 1) << text;
}

// Rows whose elements are needed in two stages.
class CudaPackedTest : public CudaRendererTest {
 protected:
  std::string scaled_rows(DType dtype, double other, int vector = 8,
                          ReduceKind kind = ReduceKind::sum) {
    const int x = b.add_buffer("x", dtype, false);
    const int y = b.add_buffer("y", dtype, true);
    const ValueId n = b.add_scalar("n", DType::i64, 8);
    const ValueId cols = b.arange(Axis::cols, 256);
    const ValueId mask = b.pointwise(Op::lt, {cols, n});
    const ValueId at = b.add(b.mul(b.program_id(), n), cols);
    const ValueId value = b.load(x, at, mask, b.real(other, DType::f32));
    const ValueId whole = b.broadcast_to(reduce(kind, value), {1, 256});
    b.store(y, at, b.mul(value, whole), mask);
    return render({.threads = 32, .threads_per_row = 32, .vector = vector});
  }
};

TEST_F(CudaPackedTest, HalvesStayPacked) {
  const std::string text = scaled_rows(DType::f16, 0);
  EXPECT_EQ(count_of(text, "Packed<f16, 8>"), 1) << text;
}
TEST_F(CudaPackedTest, InfinityIsTheSamePacked) {
  EXPECT_EQ(count_of(scaled_rows(DType::bf16, -INFINITY), "Packed<bf16, 8>"), 1);
}
TEST_F(CudaPackedTest, FillValuesThat16BitsCannotHoldUnpackThem) {
  EXPECT_EQ(count_of(scaled_rows(DType::bf16, 0.1), "Packed<"), 0);
}
TEST_F(CudaPackedTest, SingleElementsAreNotPacked) {
  EXPECT_EQ(count_of(scaled_rows(DType::f16, 0, 1), "Packed<"), 0);
}
TEST_F(CudaPackedTest, WiderElementsAreNotPacked) {
  EXPECT_EQ(count_of(scaled_rows(DType::f32, 0, 4), "Packed<"), 0);
}
TEST_F(CudaPackedTest, MaximaReducePackedHalves) {
  const std::string text = scaled_rows(DType::f16, -INFINITY, 8, ReduceKind::max);
  EXPECT_EQ(count_of(text, "_packed[0] = Max::combine("), 1) << text;
  EXPECT_EQ(count_of(text, "_part[v] = Max::combine("), 3) << "eight are one in three steps";
}
TEST_F(CudaPackedTest, SumsNeedMoreDigitsThanHalvesHave) {
  EXPECT_EQ(count_of(scaled_rows(DType::f16, 0), "_packed"), 0);
}

// A vector's elements branch together; values computed before the call are still available after
// it.
class CudaVectorFunctionTest : public CudaRendererTest {
 protected:
  std::string angles(int vector, DType dtype = DType::f32) {
    const int x = b.add_buffer("x", dtype, false);
    const int y = b.add_buffer("y", dtype, true);
    const ValueId at = b.arange(Axis::cols, 256);
    const ValueId twice = b.mul(load(x, at), b.real(2, dtype));
    b.store(y, at, b.mul(b.pointwise(Op::cos, {twice}), twice), kNoValue);
    return render({.threads = 32, .threads_per_row = 32, .vector = vector});
  }
};
TEST_F(CudaVectorFunctionTest, AVectorsElementsBranchTogether) {
  const std::string text = angles(4);
  EXPECT_EQ(count_of(text, "cos_of_all<4>("), 1) << text;
  EXPECT_EQ(count_of(text, " cos("), 0) << text;
  EXPECT_EQ(count_of(text, "_vector[4];"), 2) << "the angles, and what is needed after: " << text;
}
TEST_F(CudaVectorFunctionTest, SingleElementsBranchAlone) {
  EXPECT_EQ(count_of(angles(1), "_of_all"), 0);
}
TEST_F(CudaVectorFunctionTest, WideAnglesAreTheMachinesOwn) {
  EXPECT_EQ(count_of(angles(2, DType::f64), "_of_all"), 0);
}

TEST_F(CudaRendererTest, ProgramsAreDividedByInverses) {
  const int y = b.add_buffer("y", DType::f32, true);
  const ValueId across = b.add_scalar("across", DType::i64);
  const ValueId deep = b.add_scalar("deep", DType::i64);
  const Builder::Divided first = b.divide(b.program_id(), across);
  const Builder::Divided second = b.divide(first.quotient, deep);
  const ValueId other = b.quotient(b.sub(b.program_id(), deep), across);
  b.store(y, b.add(b.add(first.rest, second.rest), b.add(other, b.arange(Axis::cols, 128))),
          b.broadcast_to(b.real(1, DType::f32), {1, 128}), kNoValue);
  const std::string text = render(kWarp);
  EXPECT_EQ(count_of(text, "const u64 across_inverse = arguments.words[4];"), 1) << text;
  EXPECT_EQ(count_of(text, "const u64 deep_inverse = arguments.words[5];"), 1) << text;
  EXPECT_EQ(count_of(text, "quotient("), 2) << text;
  EXPECT_EQ(count_of(text, "floor_div("), 1) << "a difference may be negative: " << text;
  EXPECT_EQ(render_cuda(b.program()).divisors, (std::vector{0, 1}));
}

TEST_F(CudaRendererTest, InputsAreReadAsTheyAreCachedReusedOnesOften) {
  const int x = b.add_buffer("x", DType::f32, false);
  const int bias = b.add_buffer("bias", DType::f32, false, true);
  const int y = b.add_buffer("y", DType::f32, true);
  const ValueId at = row(b.add_scalar("stride", DType::i64, 4));
  const ValueId value = b.pointwise(Op::add, {load(x, at), load(bias, b.arange(Axis::cols, 128))});
  b.store(y, at, value, kNoValue);
  EXPECT_EQ(count_of(render(kWarp), "kOnce"), 0);
  EXPECT_EQ(count_of(render(kWarp), "kOften"), 2);
  b.set_caching(tile::Caching::results);
  const std::string text = render(kWarp);
  EXPECT_EQ(count_of(text, "kOnce"), 1) << text;
  EXPECT_EQ(count_of(text, "kOften"), 1) << text;
  const auto access_with = [&](const char* how) {
    const std::size_t at_word = text.find(how);
    return text.substr(at_word, text.find('\n', at_word) - at_word);
  };
  EXPECT_NE(access_with("kOften").find("bias"), std::string::npos) << text;
  const auto keeps_results = [&] {
    return count_of(render_cuda(b.program()).text(), "#define SN_KEEPS_RESULTS 1") == 1;
  };
  EXPECT_TRUE(keeps_results());
  b.set_caching(tile::Caching::operands);
  EXPECT_EQ(count_of(render(kWarp), "kKept"), 1) << render(kWarp);
  EXPECT_EQ(count_of(render(kWarp), "kOften"), 1) << "what many programs read";
  EXPECT_FALSE(keeps_results());
}

// max, then sum: the sum depends on the maximum.
TEST_F(CudaRendererTest, AClusterMeetsOnceForEachReductionThatFollowsOnAnother) {
  const int x = b.add_buffer("x", DType::f32, false);
  const int y = b.add_buffer("y", DType::f32, true);
  const ValueId at = row(b.add_scalar("stride", DType::i64, 4), 1024);
  const ValueId value = load(x, at);
  const ValueId top = reduce(ReduceKind::max, value);
  const ValueId power = b.pointwise(Op::exp, {b.pointwise(Op::sub, {value, top})});
  const ValueId total = reduce(ReduceKind::sum, power);
  b.store(y, at, b.pointwise(Op::div, {power, total}), kNoValue);
  Mapping mapping = kWarp;
  mapping.threads = mapping.threads_per_row = 128;
  EXPECT_EQ(count_of(render(mapping), "block_barrier();"), 2) << render(mapping);
  EXPECT_EQ(count_of(render(mapping), "cluster"), 0);
  mapping.cluster = 2;
  const std::string text = render(mapping);
  EXPECT_EQ(count_of(text, "wait_for_exchange("), 2) << text;
  EXPECT_EQ(count_of(text, "cluster_barrier();"), 0) << "it would wait for all that was stored";
  EXPECT_EQ(count_of(text, "block_barrier();"), 0) << text;
  EXPECT_EQ(count_of(text, "cluster_has_started();"), 1) << text;
  EXPECT_EQ(count_of(text, "wait_for_cluster();"), 1) << "before the first slot is written\n"
                                                      << text;
  EXPECT_LT(text.find("SN_EXCHANGES(exchanges, 2);"), text.find("cluster_has_started();"));
  EXPECT_LT(text.find("wait_for_cluster();"), text.find("bring_part<"));
}

TEST_F(CudaRendererTest, IndependentReductionsShareABarrier) {
  const int x = b.add_buffer("x", DType::f32, false);
  const int y = b.add_buffer("y", DType::f32, true);
  const ValueId value = load(x, row(b.add_scalar("stride", DType::i64, 4), 1024));
  const ValueId both =
      b.pointwise(Op::add, {reduce(ReduceKind::max, value), reduce(ReduceKind::sum, value)});
  b.store(y, b.program_id(), both, kNoValue);
  Mapping mapping = kWarp;
  mapping.threads = mapping.threads_per_row = 128;
  EXPECT_EQ(count_of(render(mapping), "block_barrier();"), 1) << render(mapping);
}

TEST_F(CudaRendererTest, AWarpsReductionNeedsNoBarrier) {
  const int x = b.add_buffer("x", DType::f32, false);
  const int y = b.add_buffer("y", DType::f32, true);
  const ValueId value = load(x, row(b.add_scalar("stride", DType::i64, 4)));
  b.store(y, b.program_id(), reduce(ReduceKind::sum, value), kNoValue);
  const std::string text = render(kWarp);
  EXPECT_EQ(count_of(text, "barrier"), 0) << text;
  EXPECT_EQ(count_of(text, "reduce_lanes<Sum, 32>"), 1) << text;
}

TEST_F(CudaRendererTest, ALoadOfWhatWasStoredWaitsForAllThreads) {
  const int x = b.add_buffer("x", DType::f32, false);
  const int y = b.add_buffer("y", DType::f32, true);
  const ValueId cols = b.arange(Axis::cols, 128);
  b.store(y, cols, load(x, cols), kNoValue);
  EXPECT_EQ(count_of(render(kWarp), "block_barrier();"), 0) << "nothing is read back";
  const ValueId back = b.sub(b.integer(127), cols);
  b.store(y, b.add(cols, b.integer(128)), load(y, back), kNoValue);
  const std::string text = render(kWarp);
  const std::size_t first_store = text.find("store_vector<");
  const std::size_t barrier = text.find("block_barrier();");
  ASSERT_NE(barrier, std::string::npos) << text;
  EXPECT_LT(first_store, barrier);
  EXPECT_LT(barrier, text.rfind("store_vector<"));
  EXPECT_EQ(count_of(text, "load_vector<"), 1)
      << "what the program writes is not read past the caches\n"
      << text;
}

TEST_F(CudaRendererTest, LoadsStandBehindTheReductionTheyDoNotFeed) {
  const int x = b.add_buffer("x", DType::f32, false);
  const int weight = b.add_buffer("weight", DType::f32, false, true);
  const int y = b.add_buffer("y", DType::f32, true);
  const ValueId at = row(b.add_scalar("stride", DType::i64, 4));
  const ValueId value = load(x, at);
  const ValueId late = load(weight, b.arange(Axis::cols, 128));  // precedes the reduction
  const ValueId total = reduce(ReduceKind::sum, value);
  b.store(y, at, b.pointwise(Op::mul, {b.pointwise(Op::mul, {value, total}), late}), kNoValue);
  tile::Mapping mapping = kWarp;
  mapping.late_loads = true;
  const std::string text = render(mapping);
  const std::size_t reduced = text.find("reduce_lanes<");
  const std::size_t body = text.find("wait_for_previous_kernel();");
  EXPECT_GT(text.find("weight", body), reduced) << text;
  EXPECT_LT(text.find("load_vector<"), reduced) << text;
  EXPECT_EQ(count_of(text, "load_vector<"), 2) << "and x is not loaded again\n" << text;
}

TEST_F(CudaRendererTest, TheNextKernelMayStartWhenTheLastStageBegins) {
  copy_rows(DType::f32, b.add_scalar("stride", DType::i64, 4));
  const std::string text = render(kWarp);
  EXPECT_EQ(count_of(text, "let_next_kernel_start();"), 1);
  EXPECT_LT(text.find("wait_for_previous_kernel();"), text.find("load_vector<"));
}

TEST_F(CudaRendererTest, TheArgumentAndTheMappingAreAsTheLauncherIsTold) {
  copy_rows(DType::f32, b.add_scalar("stride", DType::i64, 4));
  Mapping mapping = kWarp;
  mapping.cluster = 2;
  mapping.blocks_at_once = 3;
  b.set_mapping(mapping);
  const KernelSource source = unaligned(render_cuda(b.program()));
  EXPECT_EQ(source.words, 4) << "two buffers, a scalar, the number of programs";
  EXPECT_EQ(source.mapping, mapping);
  EXPECT_NE(source.text().find("SN_KERNEL(" + source.entry + ", 4)"), std::string::npos);
  for (const char* line :
       {"#define SN_THREADS 32\n", "#define SN_CLUSTER 2\n", "#define SN_BLOCKS_AT_ONCE 3\n",
        "#define SN_WIDE_INDEX 0\n", "#define SN_ALIGNED false\n"})
    EXPECT_NE(source.text().find(line), std::string::npos) << line;
}

// x is aligned to 16 bytes, weight and number to an element, half to the layout's vectors.
TEST_F(CudaRendererTest, BuffersAreAlignedAsTheirAccessesNeed) {
  const ValueId stride = b.add_scalar("stride", DType::i64, 16);
  const int x = b.add_buffer("x", DType::f32, false);
  const int weight = b.add_buffer("weight", DType::f32, false);
  const int number = b.add_buffer("number", DType::f64, false);
  const int half = b.add_buffer("half", DType::bf16, false);
  const int anywhere = b.add_buffer("anywhere", DType::f32, false);
  const int spread = b.add_buffer("spread", DType::f32, false);
  const int y = b.add_buffer("y", DType::f32, true);
  const ValueId at = row(stride);
  ValueId value = b.pointwise(Op::mul, {load(x, at), load(weight, b.program_id())});
  value = b.pointwise(Op::add, {value, b.cast(load(number, b.integer(3)), DType::f32)});
  value = b.pointwise(Op::add, {value, load(half, at)});
  value = b.pointwise(Op::add, {value, load(anywhere, b.add(at, b.add_scalar("o", DType::i64)))});
  const ValueId sixteenth = b.mul(b.arange(Axis::cols, 128), b.integer(16));
  value = b.pointwise(Op::add, {value, load(spread, sixteenth)});
  b.store(y, at, value, kNoValue);
  b.set_mapping(kWarp);
  EXPECT_EQ(render_cuda(b.program()).alignments,
            (std::vector<std::uint8_t>{16, 4, 8, 8, 4, 4, 16}));
}

struct Dtypes {
  DType in;
  DType out;
  bool narrow;
};

// A comparison or integer computed from an f32 sine exposes digits that 16 bits do not.
class CudaNarrowTest : public CudaRendererTest, public testing::WithParamInterface<Dtypes> {};

TEST_P(CudaNarrowTest, OnlyFully16BitKernelsUseTheHardwareSine) {
  const int x = b.add_buffer("x", GetParam().in, false);
  const int y = b.add_buffer("y", GetParam().out, true);
  const ValueId at = b.arange(Axis::cols, 128);
  ValueId value = b.pointwise(Op::sin, {load(x, at)});
  if (GetParam().out == DType::boolean)
    value = b.pointwise(Op::lt, {value, b.real(0.5, DType::f32)});
  else if (GetParam().out == DType::i32)
    value = b.cast(value, DType::i32);
  b.store(y, at, value, kNoValue);
  b.set_mapping(kWarp);
  const std::string define = std::string("#define SN_NARROW_RESULTS ");
  const std::string text = render_cuda(b.program()).text();
  EXPECT_EQ(count_of(text, define + (GetParam().narrow ? "1" : "0") + "\n"), 1);
}
INSTANTIATE_TEST_SUITE_P(
    DTypes, CudaNarrowTest,
    testing::Values(Dtypes{DType::bf16, DType::bf16, true}, Dtypes{DType::f16, DType::f16, true},
                    Dtypes{DType::f32, DType::f32, false}, Dtypes{DType::f32, DType::f16, false},
                    Dtypes{DType::f16, DType::f32, false},
                    Dtypes{DType::f32, DType::boolean, false},
                    Dtypes{DType::f32, DType::i32, false}),
    [](const auto& each) {
      return std::string(name_of(each.param.in)) + "_to_" + std::string(name_of(each.param.out));
    });

}  // namespace
}  // namespace sinter
