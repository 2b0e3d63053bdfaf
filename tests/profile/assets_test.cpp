// Embedded files equal the originals, byte for byte.
#include "src/profile/assets.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/profile/test_asset.h"

namespace sinter {
namespace {

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Assets, AwkwardBytesComeThrough) {
  const char* source = std::getenv("SINTER_SOURCE_DIR");
  if (!source) GTEST_SKIP() << "SINTER_SOURCE_DIR is not set";
  const std::string text = file_text(std::string(source) + "/tests/profile/embedded/awkward.txt");
  EXPECT_GT(text.find('\n'), 16000u) << "the first line is to be longer than compilers like";
  EXPECT_NE(text.find('\0'), std::string::npos);
  EXPECT_TRUE(test_asset("awkward.txt") == text);
}

TEST(Assets, AnUnknownNameIsEmpty) {
  EXPECT_TRUE(test_asset("no.txt").empty());
  EXPECT_TRUE(asset("no.js").empty());
}

TEST(Assets, TheChartLibraryIsTheFileFound) {
  if (chart_library().empty()) GTEST_SKIP() << "this build has no Chart.js: " << SINTER_CHART_JS;
  EXPECT_TRUE(chart_library() == file_text(SINTER_CHART_JS));
}

}  // namespace
}  // namespace sinter
