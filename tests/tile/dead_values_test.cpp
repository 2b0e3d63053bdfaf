// The builder's removal of dead values and duplicate constants.
#include "src/tile/dead_values.h"

#include <gtest/gtest.h>
#include <sinter/error.h>

#include <algorithm>
#include <cmath>

#include "src/tile/builder.h"
#include "src/tile/parse.h"

namespace sinter::tile {
namespace {

class DeadValuesTest : public testing::Test {
 protected:
  Builder b{"dead"};
  int x = b.add_buffer("x", DType::f32, false);
  int y = b.add_buffer("y", DType::f32, true);
  ValueId n = b.add_scalar("n", DType::i64);
  ValueId cols = b.arange(Axis::cols, 16);

  ValueId load() { return b.load(x, cols, kNoValue, kNoValue); }
  void store(ValueId value) { b.store(y, cols, value, kNoValue); }
};

// The result of the pass on a program that reads x and writes y.
std::string after_pass(std::string_view body) {
  constexpr std::string_view kHeader = "kernel dead\n  in x: f32\n  out y: f32\n  scalar n: i64\n";
  TileProgram program = parse_tile_program(std::string(kHeader) + std::string(body));
  remove_dead_values(program);
  EXPECT_NO_THROW(verify(program));
  EXPECT_NO_THROW(verify_no_waste(program));
  const std::string text = to_string(program);
  EXPECT_TRUE(text.starts_with(kHeader)) << "a parameter need not be used";
  return text.substr(kHeader.size());
}

TEST(DeadValuesTextTest, ValuesThatNothingUsesGoWithTheirOperands) {
  EXPECT_EQ(after_pass(R"(
  %n = scalar n
  %cols = arange cols 16
  %used = load x[%cols]
  %unused = load x[%cols]
  %log = log %unused
  %exp = exp %log
  store y[%cols] = %used
)"),
            R"(  %0: i64(1, 16) = arange cols 16
  %1: f32(1, 16) = load x[%0]
  store y[%0] = %1
)");
}

TEST(DeadValuesTextTest, ALoopWithAStoreStaysAndOneWithoutEffectGoes) {
  EXPECT_EQ(after_pass(R"(
  %n = scalar n
  %a = loop %i = 0 to %n step 1 carrying %sum = 0
    store y[%i] = 1.0
    %next = add %sum, %i
    yield %next
  %b = loop %k = 0 to %n step 1 carrying %other = 0
    %more = add %other, %k
    yield %more
)"),
            R"(  %0: i64 = scalar n
  %1: i64 = constant 0
  %2: i64 = constant 1
  %5: f32 = constant 1.0
  %7: i64 = loop %3 = %1 to %0 step %2 carrying %4 = %1
    store y[%3] = %5
    %6: i64 = add %4, %3
    yield %6
)");
}

TEST(DeadValuesTextTest, ALoopsBodyKeepsWhatItYields) {
  EXPECT_EQ(after_pass(R"(
  %n = scalar n
  %cols = arange cols 16
  %zero = broadcast 0.0 to (1, 16)
  %total = loop %i = 0 to %n step 1 carrying %sum = %zero
    %unused = exp %sum
    %part = load x[%cols]
    %next = add %sum, %part
    yield %next
  store y[%cols] = %total
)"),
            R"(  %0: i64 = scalar n
  %1: i64(1, 16) = arange cols 16
  %2: f32 = constant 0.0
  %3: f32(1, 16) = broadcast %2 to (1, 16)
  %4: i64 = constant 0
  %5: i64 = constant 1
  %10: f32(1, 16) = loop %6 = %4 to %0 step %5 carrying %7 = %3
    %8: f32(1, 16) = load x[%1]
    %9: f32(1, 16) = add %7, %8
    yield %9
  store y[%1] = %10
)");
}

TEST(DeadValuesTextTest, OneUsedResultOfTwoIsEnough) {
  const std::string text = after_pass(R"(
  %cols = arange cols 16
  %x = load x[%cols]
  %best, %position = reduce argmax %x, %cols
  %real = cast %position to f32
  store y[0] = %real
)");
  EXPECT_NE(text.find("%2: f32, %3: i64 = reduce argmax %1, %0"), std::string::npos) << text;
}

TEST_F(DeadValuesTest, EqualConstantsAreOneValue) {
  EXPECT_EQ(b.integer(3), b.integer(3));
  EXPECT_NE(b.integer(3), b.integer(3, DType::i32));
  EXPECT_NE(b.integer(3), b.integer(4));
  EXPECT_EQ(b.real(0.5, DType::f32), b.real(0.5, DType::f32));
  EXPECT_NE(b.real(0.0, DType::f32), b.real(-0.0, DType::f32)) << "the sign of zero stays";
  EXPECT_EQ(b.real(std::nan(""), DType::f32), b.real(std::nan(""), DType::f32));
}

TEST_F(DeadValuesTest, AConstantOfALoopsBodyIsSeenAfterIt) {
  ValueId inside = kNoValue;
  b.loop(b.integer(0), n, b.integer(1), {}, [&](ValueId, std::span<const ValueId>) {
    inside = b.real(2, DType::f32);
    store(b.pointwise(Op::mul, {load(), inside}));
    return std::vector<ValueId>{};
  });
  EXPECT_EQ(b.real(2, DType::f32), inside);
  store(b.pointwise(Op::add, {load(), inside}));
  EXPECT_NO_THROW(verify(b.program()));
  const TileProgram program = b.finish();
  EXPECT_TRUE(std::none_of(program.body.begin(), program.body.end(), [](const Instr& instr) {
    return std::any_of(instr.body.begin(), instr.body.end(),
                       [](const Instr& inner) { return inner.code == Code::constant; });
  }));
}

TEST_F(DeadValuesTest, WasteIsRefusedByName) {
  store(load());
  b.pointwise(Op::exp, {load()});
  EXPECT_THROW(verify_no_waste(b.program()), InternalError);
  TileProgram program = b.finish();
  EXPECT_NO_THROW(verify_no_waste(program));
  Instr copy;
  copy.real = 1;
  for (int i = 0; i < 2; ++i) {
    copy.results = {program.values.push_back({DType::f32, {}})};
    program.body.insert(program.body.begin(), copy);
    Instr use;
    use.code = Code::store;
    use.index = y;
    use.args = {0, copy.results[0], kNoValue};
    program.body.push_back(use);
  }
  EXPECT_THROW(verify_no_waste(program), InternalError);
}

}  // namespace
}  // namespace sinter::tile
