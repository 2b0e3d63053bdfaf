// Persistent blocks on the simt device against the interpreter: data shared by all programs, and
// prefetched loads.
#include <gtest/gtest.h>

#include "src/base/options.h"
#include "src/simt/simt_device.h"
#include "tests/codegen/tile_case_device.h"
#include "tests/codegen/tile_case_maker.h"

namespace sinter {
namespace {

SimtDevice& device() {
  static SimtDevice& device = *new SimtDevice(simt_device_options(environment_options()));
  return device;
}

void expect_agrees_prefetching(const TileCase& c) {
  for (const tile::Mapping& mapping : test_mappings()) {
    if (mapping.prefetch == 0) continue;
    expect_agrees(device(), c, mapping);
    expect_agrees(device(), c, mapping, 8);
  }
}

constexpr int kPrograms = 7;

// A scalar shared by all programs is the result of a reduction, which runs in each program.
TEST(SimtPrefetchTest, ReducesOperandsSharedByAllPrograms) {
  Maker m("shared_reduction");
  const int x = m.in(DType::f32, kPrograms * 64);
  const int w = m.in(DType::f32, 64);
  const int y = m.out(DType::f32, kPrograms * 64);
  const ValueId weight = m.load(w, m.cols(64));
  const ValueId length = m.op(Op::sqrt, {m.reduce(ReduceKind::sum, m.op(Op::square, {weight}))});
  m.b.store(y, m.block(64), m.op(Op::div, {m.load(x, m.block(64)), length}), kNoValue);
  expect_agrees_prefetching(m.finish(kPrograms));
}

// The offset of a row is known only after an index has been loaded.
TEST(SimtPrefetchTest, LoadsRowsThatAreToldByMemory) {
  Maker m("gathered_rows");
  const int rows = m.in(DType::i64, Numbers{3, 1, 1, 0, 4, 2, 3});
  const int x = m.in(DType::f32, 5 * 64);
  const int y = m.out(DType::f32, kPrograms);
  const ValueId row = m.load(rows, m.b.program_id());
  const ValueId at = m.b.add(m.b.mul(row, m.b.integer(64)), m.cols(64));
  m.b.store(y, m.b.program_id(), m.reduce(ReduceKind::sum, m.load(x, at)), kNoValue);
  expect_agrees_prefetching(m.finish(kPrograms));
}

// exp(w) has one row, and is used by tiles of several rows in two stages.
TEST(SimtPrefetchTest, SharesLoadsOfTilesOfSeveralShapes) {
  Maker m("flat_and_tall");
  const int x = m.in(DType::f32, kPrograms * 4 * 64);
  const int w = m.in(DType::f32, 64);
  const int y = m.out(DType::f32, kPrograms * 4 * 64);
  const ValueId r = m.b.add(m.b.mul(m.b.program_id(), m.b.integer(4)), m.rows(4));
  const ValueId at = m.b.add(m.b.mul(r, m.b.integer(64)), m.cols(64));
  const ValueId v = m.load(x, at);
  const ValueId weight = m.op(Op::exp, {m.load(w, m.cols(64))});
  const ValueId total = m.reduce(ReduceKind::sum, m.op(Op::mul, {v, weight}));
  m.b.store(y, at, m.op(Op::mul, {m.op(Op::div, {v, total}), weight}), kNoValue);
  m.result.bound = 2e-5;
  expect_agrees_prefetching(m.finish(kPrograms));
}

// Nothing can be prefetched: loads use one element of every 16 bytes.
TEST(SimtPrefetchTest, RunsProgramsThatFetchNothing) {
  Maker m("strided");
  const int x = m.in(DType::f32, kPrograms * 256);
  const int y = m.out(DType::f32, kPrograms);
  const ValueId at =
      m.b.add(m.b.mul(m.b.program_id(), m.b.integer(256)), m.b.mul(m.cols(64), m.b.integer(4)));
  m.b.store(y, m.b.program_id(), m.reduce(ReduceKind::max, m.load(x, at)), kNoValue);
  expect_agrees_prefetching(m.finish(kPrograms));
}

TEST(SimtPrefetchTest, FindsPositionsAndTruthsInClusters) {
  Maker m("positions");
  const int x = m.in(DType::f64, kPrograms * 128);
  const int p = m.in(DType::boolean, kPrograms * 128);
  const ValueId v = m.load(x, m.block(128));
  const auto found = m.b.reduce(ReduceKind::argmin, std::vector{v, m.cols(128)});
  m.b.store(m.out(DType::f64, kPrograms), m.b.program_id(), found[0], kNoValue);
  m.b.store(m.out(DType::i64, kPrograms), m.b.program_id(), found[1], kNoValue);
  const ValueId any = m.reduce(ReduceKind::max, m.load(p, m.block(128)));
  m.b.store(m.out(DType::boolean, kPrograms), m.b.program_id(), any, kNoValue);
  m.result.bound = 0;
  expect_agrees_prefetching(m.finish(kPrograms));
}

// A program loads what it has stored, in another order.
TEST(SimtPrefetchTest, OrdersStoresAndLoadsOfAProgram) {
  Maker m("ordered");
  const int x = m.in(DType::f32, kPrograms * 64);
  const int y = m.out(DType::f32, kPrograms * 64);
  const int z = m.out(DType::f32, kPrograms * 64);
  m.b.store(y, m.block(64), m.load(x, m.block(64)), kNoValue);
  const ValueId back = m.b.add(m.b.mul(m.b.program_id(), m.b.integer(64)),
                               m.op(Op::sub, {m.b.integer(63), m.cols(64)}));
  m.b.store(z, m.block(64), m.load(y, back), kNoValue);
  expect_agrees_prefetching(m.finish(kPrograms));
}

}  // namespace
}  // namespace sinter
