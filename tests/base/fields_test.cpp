// Keys follow from the list of fields: every key field counts, notes do not.
#include "src/base/fields.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "src/api/op_call.h"
#include "src/graph/graph.h"
#include "src/lower/config.h"
#include "src/tile/kernel_body.h"
#include "src/tile/program.h"
#include "tests/support/changed.h"

namespace sinter {
namespace {

using testing_support::change;

// Changes the fields one by one: keys and equality notice, but for notes.
template <HasFields T>
void expect_that_every_field_counts() {
  for_each_field<T>([](const auto& field) {
    const T before{};
    T after{};
    change(after.*(field.member));
    const bool is_key = std::decay_t<decltype(field)>::kUse == FieldUse::key;
    EXPECT_EQ(key_of(before) != key_of(after), is_key) << field.name;
    EXPECT_EQ(!same_key(before, after), is_key) << field.name;
    KeyWords words_before, words_after;
    add_key(words_before, before);
    add_key(words_after, after);
    EXPECT_EQ(words_before != words_after, is_key) << field.name;
  });
}

TEST(Fields, EachFieldOfAKeyCountsAndNotesDoNot) {
  expect_that_every_field_counts<Scalar>();
  expect_that_every_field_counts<Window>();
  expect_that_every_field_counts<View>();
  expect_that_every_field_counts<Operand>();
  expect_that_every_field_counts<Node>();
  expect_that_every_field_counts<tile::TileShape>();
  expect_that_every_field_counts<tile::Value>();
  expect_that_every_field_counts<tile::Instr>();
  expect_that_every_field_counts<tile::BufferParam>();
  expect_that_every_field_counts<tile::ScalarParam>();
  expect_that_every_field_counts<tile::Mapping>();
  expect_that_every_field_counts<tile::TileProgram>();
  expect_that_every_field_counts<OpCall>();
  expect_that_every_field_counts<LibraryMatrix>();
  expect_that_every_field_counts<LibraryMatmul>();
  expect_that_every_field_counts<Tiling>();
}

struct Two {
  int a = 0;
  double b = 0;
};
constexpr auto fields_of(const Two*) { return std::tuple{key_field("a", &Two::a)}; }

TEST(Fields, AMissingFieldIsNoticed) { EXPECT_FALSE(kListsEveryField<Two>); }

TEST(Fields, FloatsCountByTheirBits) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(same_key(nan, nan));
  EXPECT_EQ(key_of(nan), key_of(nan));
  EXPECT_FALSE(same_key(0.0, -0.0));
  EXPECT_NE(key_of(0.0), key_of(-0.0));
}

TEST(Fields, TheBordersOfListsCount) {
  using Lists = std::vector<std::vector<int>>;
  EXPECT_NE(key_of(Lists{{1, 2}, {}}), key_of(Lists{{1}, {2}}));
  EXPECT_NE(key_of(std::vector<std::string>{"ab", ""}), key_of(std::vector<std::string>{"a", "b"}));
  EXPECT_NE(key_of(std::optional<int>{}), key_of(std::optional<int>{0}));
}

}  // namespace
}  // namespace sinter
