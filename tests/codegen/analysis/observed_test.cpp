// How much of a value is live for stores, reductions and addresses: where loops may stop.
#include "src/codegen/analysis/observed.h"

#include <gtest/gtest.h>

#include "src/tile/builder.h"

namespace sinter {
namespace {

using tile::Axis;
using tile::Builder;
using tile::kNoValue;
using tile::ValueId;

class ObservedTest : public testing::Test {
 protected:
  Builder b{"observed"};
  int x = b.add_buffer("x", DType::f32, false);
  int y = b.add_buffer("y", DType::f32, true);
  ValueId n = b.add_scalar("n", DType::i64);
  ValueId m = b.add_scalar("m", DType::i64);
  ValueId cols = b.arange(Axis::cols, 16);

  ValueId below(ValueId limit) { return b.pointwise(Op::lt, {cols, limit}); }
  ValueId load() { return b.load(x, cols, kNoValue, kNoValue); }

  bool ends_at(ValueId value, const Index& limit) const {
    const IndexAnalysis index(b.program());
    return ObservedLimits(b.program(), index).ends_at(value, Axis::cols, limit);
  }
};

TEST_F(ObservedTest, AMaskedStoreLooksAsFarAsItsMask) {
  const ValueId value = load();
  b.store(y, cols, value, below(n));
  EXPECT_TRUE(ends_at(value, Index::of(n)));
  EXPECT_FALSE(ends_at(value, Index::of(m)));
}

TEST_F(ObservedTest, TheSameLimitIsRecognisedHoweverItIsWritten) {
  const ValueId value = load();
  b.store(y, cols, value, b.pointwise(Op::lt, {b.add(b.add(cols, b.integer(2)), m), n}));
  b.store(y, cols, value, b.pointwise(Op::lt, {b.add(b.add(cols, m), b.integer(2)), n}));
  EXPECT_TRUE(ends_at(value, Index::of(n) - Index(2) - Index::of(m)));
}

TEST_F(ObservedTest, TwoLimitsOrNoneAreEverything) {
  const ValueId two = load();
  b.store(y, cols, two, below(n));
  b.store(y, cols, two, below(m));
  const ValueId whole = b.pointwise(Op::exp, {two});
  b.store(y, cols, whole, kNoValue);
  EXPECT_FALSE(ends_at(two, Index::of(n)));
  EXPECT_FALSE(ends_at(whole, Index::of(n)));
}

TEST_F(ObservedTest, UnusedValuesMayEndAnywhere) { EXPECT_TRUE(ends_at(load(), Index::of(n))); }

// A tile that a loop carries and stores under a mask; `limit` is computed in the loop's body.
class CarriedTest : public ObservedTest {
 protected:
  ValueId carried_ = kNoValue;
  void loop_with(const std::function<ValueId(ValueId)>& limit) {
    const ValueId zero = b.broadcast_to(b.real(0, DType::f32), {1, 16});
    b.loop(b.integer(0), n, b.integer(1), std::vector{zero},
           [&](ValueId i, std::span<const ValueId> carried) {
             carried_ = carried[0];
             b.store(y, cols, carried[0], below(limit(i)));
             return std::vector{b.pointwise(Op::add, {carried[0], load()})};
           });
  }
};

TEST_F(CarriedTest, ALimitThatStaysHoldsInEveryTrip) {
  loop_with([&](ValueId) { return m; });
  EXPECT_TRUE(ends_at(carried_, Index::of(m)));
}

TEST_F(CarriedTest, ALimitThatMovesWithTheLoopDoesNot) {
  ValueId counter = kNoValue;
  loop_with([&](ValueId i) { return counter = i; });
  EXPECT_FALSE(ends_at(carried_, Index::of(counter)));
}

TEST_F(CarriedTest, NorDoesOneThatIsComputedInTheLoop) {
  ValueId computed = kNoValue;
  loop_with([&](ValueId i) { return computed = b.pointwise(Op::sub, {m, i}); });
  EXPECT_FALSE(ends_at(carried_, Index::of(computed)));
}

}  // namespace
}  // namespace sinter
