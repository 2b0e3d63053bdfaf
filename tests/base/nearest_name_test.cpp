// Suggestions for mistyped names, and lists if nothing is close.
#include "src/base/nearest_name.h"

#include <gtest/gtest.h>

#include <vector>

namespace sinter {
namespace {

const std::vector<std::string> kSets{"quick", "full"};

TEST(NearestName, CountsLettersChangedAddedAndMissing) {
  EXPECT_EQ(nearest_name("qick", kSets), "quick");
  EXPECT_EQ(nearest_name("fulll", kSets), "full");
  EXPECT_EQ(nearest_name("fukk", kSets), "full");
}

TEST(ListedNames, ReadLikeASentence) { EXPECT_EQ(listed_names(kSets), "there are quick and full"); }

TEST(UnknownName, SuggestsWhatIsNear) {
  EXPECT_EQ(unknown_name("set", "qick", kSets), "there is no set 'qick'; did you mean quick?");
  EXPECT_EQ(unknown_name("set", "qucik", kSets), "there is no set 'qucik'; did you mean quick?");
}

TEST(UnknownName, ListsThemWhereNothingIs) {
  EXPECT_EQ(unknown_name("set", "slow", kSets), "there is no set 'slow'; there are quick and full");
  EXPECT_EQ(unknown_name("set", "", kSets), "there is no set ''; there are quick and full");
  const std::vector<std::string> one{"torch"};
  EXPECT_EQ(unknown_name("peer", "x", one), "there is no peer 'x'; there is just torch");
}

}  // namespace
}  // namespace sinter
