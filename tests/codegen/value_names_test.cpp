// Names of values, and index expressions written with them.
#include "src/codegen/value_names.h"

#include <gtest/gtest.h>

#include <limits>

#include "src/tile/builder.h"

namespace sinter {
namespace {

using tile::Axis;
using tile::Builder;
using tile::ValueId;

class ValueNamesTest : public testing::Test {
 protected:
  Builder b_{"names"};
  ValueId n_ = b_.add_scalar("n", DType::i64);
  ValueId stride_ = b_.add_scalar("s", DType::i64);
  ValueId program_ = b_.program_id();
  Index n = Index::of(n_), s = Index::of(stride_), p = Index::of(program_);

  ValueNames names(IndexDialect dialect = {}) const { return {b_.program(), dialect}; }
  std::string text(const Index& index) const { return names().text(index); }
};

TEST_F(ValueNamesTest, ParametersKeepTheirNamesAndConstantsTheirValues) {
  const ValueId five = b_.integer(5);
  const ValueId minus = b_.integer(-5);
  const ValueId half = b_.real(0.5, DType::f32);
  const ValueId first = b_.arange(Axis::cols, 1);
  const ValueId sum = b_.add(n_, five);
  EXPECT_EQ(names()[n_], "n_");
  EXPECT_EQ(names()[program_], "program");
  EXPECT_EQ(names()[five], "5");
  EXPECT_EQ(names()[minus], "i64((-5))");
  EXPECT_EQ(names()[half], "0.5f");
  EXPECT_EQ(names()[first], "0");
  EXPECT_EQ(names()[sum], "v" + std::to_string(sum));
}

TEST_F(ValueNamesTest, ALoopsResultsAreTheVariablesItCarried) {
  ValueId carried = 0;
  const auto results = b_.loop(b_.integer(0), n_, b_.integer(1), std::vector{b_.integer(7)},
                               [&](ValueId i, std::span<const ValueId> values) {
                                 carried = values[0];
                                 return std::vector{b_.add(values[0], i)};
                               });
  EXPECT_EQ(names()[results[0]], names()[carried]);
}

TEST_F(ValueNamesTest, LongNumbersHaveTheDialectsSuffix) {
  const ValueId large = b_.integer(1 << 15);
  EXPECT_EQ(names({"L", ""})[large], "32768L");
  EXPECT_EQ(names({"", ""})[large], "32768");
  EXPECT_EQ((names({"ll", ""}).text(n * Index(1 << 20))), "n_ * 1048576ll");
}

TEST_F(ValueNamesTest, SumsAndDifferencesAreWrittenInTheirOrder) {
  EXPECT_EQ(text(Index()), "0");
  EXPECT_EQ(text(n + p), "n_ + program");
  EXPECT_EQ(text(p + n), "program + n_");
  EXPECT_EQ(text(n - p - Index(3)), "n_ - program - 3");
  EXPECT_EQ(text(Index(3) - p), "3 - program");
  EXPECT_EQ(text(Index() - p * s), "-program * s_");
  EXPECT_EQ(text(Index(-4)), "-4");
}

TEST_F(ValueNamesTest, ProductsHaveTheirNumberLast) {
  EXPECT_EQ(text(p * s * Index(4)), "program * s_ * 4");
  EXPECT_EQ(text(Index(4) * p), "program * 4");
}

TEST_F(ValueNamesTest, CommonFactorsAreTakenOutAgain) {
  EXPECT_EQ(text((n + p) * s), "(n_ + program) * s_");
  EXPECT_EQ(text((n + p) * Index(4)), "(n_ + program) * 4");
  EXPECT_EQ(text((n - p) * s + Index(2)), "(n_ - program) * s_ + 2");
  EXPECT_EQ(text(Index(2) - (n + p) * s), "2 - (n_ + program) * s_");
  EXPECT_EQ(text((p + Index(3)) * s), "(program + 3) * s_");
  EXPECT_EQ(text((p + Index(3)) * Index(4)), "program * 4 + 12") << "one multiplication as well";
  EXPECT_EQ(text(((n + p) * s + n) * Index(8) * p), "((n_ + program) * s_ + n_) * program * 8");
}

TEST_F(ValueNamesTest, TheLeastNumberExistsInC) {
  const Index least(std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(text(n + least), "n_ + (-9223372036854775807 - 1)");
  EXPECT_EQ(text((n * least - p) * s), "-(n_ * (-9223372036854775807 - 1) + program) * s_")
      << "which is its own negative";
}

TEST_F(ValueNamesTest, OffsetsLeaveOutWhatDoesNotCount) {
  EXPECT_EQ(names().text(Affine{}, "r", "c"), "0");
  EXPECT_EQ(names().text(Affine{{}, {}, Index(1)}, "r", "c"), "c");
  EXPECT_EQ(names().text(Affine{p * s, s, Index(1)}, "r", "c"), "program * s_ + r * s_ + c");
  EXPECT_EQ(names().text(Affine{{}, n + s, {}}, "r", "c"), "r * (n_ + s_)");
  EXPECT_EQ(names().text(Affine{{}, n * s, {}}, "r", "c"), "r * (n_ * s_)")
      << "what does not change with r is one factor";
  EXPECT_EQ(names({"ll", "idx"}).text(Affine{p, s, Index(1)}, "row", "begin"),
            "program + idx(row) * s_ + begin");
}

TEST_F(ValueNamesTest, RenamingChangesTheTextOfExpressions) {
  ValueNames next = names();
  next.rename(program_, "program_next");
  EXPECT_EQ(next.text(p * s), "program_next * s_");
}

}  // namespace
}  // namespace sinter
