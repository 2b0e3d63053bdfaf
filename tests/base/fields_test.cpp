// Keys follow from the list of fields: every key field counts, notes do not.
#include "src/base/fields.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string_view>
#include <type_traits>

#include "src/api/op_call.h"
#include "src/graph/graph.h"
#include "src/lower/config.h"
#include "src/tile/kernel_body.h"
#include "src/tile/program.h"
#include "tests/support/changed.h"

namespace sinter {
namespace {

using testing_support::change;

// Changes the fields one by one: keys and equality change, except for the notes listed here. A
// field that becomes a note by mistake would make kernels or programs share a cache entry.
template <HasFields T>
void expect_that_every_field_counts(const std::set<std::string_view>& notes = {}) {
  std::set<std::string_view> missing = notes;
  for_each_field<T>([&](const auto& field) {
    const T before{};
    T after{};
    change(after.*(field.member));
    const bool is_key = !notes.contains(field.name);
    missing.erase(field.name);
    EXPECT_EQ(key_of(before) != key_of(after), is_key) << field.name;
    EXPECT_EQ(!same_key(before, after), is_key) << field.name;
    KeyWords words_before, words_after;
    add_key(words_before, before);
    add_key(words_after, after);
    EXPECT_EQ(words_before != words_after, is_key) << field.name;
  });
  for (std::string_view name : missing) ADD_FAILURE() << "there is no field " << name;
}

TEST(Fields, EachFieldOfAKeyCountsAndNotesDoNot) {
  expect_that_every_field_counts<Scalar>();
  expect_that_every_field_counts<Window>();
  expect_that_every_field_counts<View>();
  expect_that_every_field_counts<Operand>();
  expect_that_every_field_counts<Node>({"origin"});
  expect_that_every_field_counts<tile::TileShape>();
  expect_that_every_field_counts<tile::Value>();
  expect_that_every_field_counts<tile::Instr>();
  expect_that_every_field_counts<tile::BufferParam>({"name"});
  expect_that_every_field_counts<tile::ScalarParam>({"name"});
  expect_that_every_field_counts<tile::Mapping>();
  expect_that_every_field_counts<tile::TileProgram>({"name"});
  expect_that_every_field_counts<OpCall>({"device"});
  expect_that_every_field_counts<LibraryMatrix>();
  expect_that_every_field_counts<LibraryMatmul>();
  expect_that_every_field_counts<Tiling>();
}

// Changes the fields one by one: configs that differ in one of them are not equal, else the tuner
// would take two candidates for one.
template <HasFields T>
void expect_that_every_field_makes_unequal() {
  for_each_field<T>([](const auto& field) {
    T other{};
    change(other.*(field.member));
    EXPECT_NE(other, T{}) << field.name;
  });
}

// The same for a config, which has no list of fields: all its members are given.
template <typename C, typename... Members>
void expect_that_every_member_makes_unequal(Members C::*... members) {
  static_assert(fields_detail::count_members<C>() == sizeof...(members), "name every member");
  const auto expect_that_it_counts = [](auto C::*member) {
    C other{};
    change(other.*member);
    EXPECT_NE(Config(other), Config(C{}));
  };
  (expect_that_it_counts(members), ...);
}

TEST(Fields, EachFieldOfAConfigMakesConfigsUnequal) {
  expect_that_every_field_makes_unequal<tile::Mapping>();
  expect_that_every_field_makes_unequal<Tiling>();
  static_assert(std::is_empty_v<LibraryConfig>, "test its members");
  expect_that_every_member_makes_unequal(&MatmulConfig::tiling);
  expect_that_every_member_makes_unequal(&PointwiseConfig::tiling, &PointwiseConfig::flat_rows);
  expect_that_every_member_makes_unequal(&RowConfig::tiling);
  expect_that_every_member_makes_unequal(&ColumnConfig::tiling, &ColumnConfig::online);
  expect_that_every_member_makes_unequal(&ChunkedConfig::tiling, &ChunkedConfig::online);
  static_assert(std::variant_size_v<Config> == 6, "list a new family's config here");
}

TEST(Fields, ConfigsOfDifferentFamiliesAreUnequal) {
  EXPECT_NE(Config(RowConfig{}), Config(ColumnConfig{}));
  EXPECT_NE(Config(MatmulConfig{}), Config(LibraryConfig{}));
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
