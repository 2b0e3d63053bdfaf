// Only the headers whose functions a kernel calls are included.
#include "src/codegen/cpu/headers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "src/codegen/kernel_headers.h"

namespace sinter {
namespace {

using Headers = std::vector<std::string_view>;

std::ptrdiff_t place(const Headers& headers, const std::string& name) {
  const std::string_view content = kernel_header("cpu/" + name);
  EXPECT_FALSE(content.empty()) << name;
  return std::find(headers.begin(), headers.end(), content) - headers.begin();
}
bool has(const Headers& headers, const std::string& name) {
  return place(headers, name) < std::ssize(headers);
}

TEST(CpuHeadersTest, TypesAndMemoryAreAlwaysThere) {
  const Headers text = headers_for("a + b");
  EXPECT_TRUE(has(text, "types.h"));
  EXPECT_TRUE(has(text, "memory.h"));
  EXPECT_FALSE(has(text, "half.h"));
  EXPECT_FALSE(has(text, "math.h"));
  EXPECT_FALSE(has(text, "reduce.h"));
  EXPECT_LT(place(text, "types.h"), place(text, "memory.h"));
}

TEST(CpuHeadersTest, HeadersOfCalledFunctionsAndTheirDependenciesAreIncluded) {
  EXPECT_TRUE(has(headers_for("exp(v1)"), "math_exp.h"));
  EXPECT_TRUE(has(headers_for("exp(v1)"), "math_call.h"));
  EXPECT_FALSE(has(headers_for("exp(v1)"), "math_libmvec.h"));
  EXPECT_TRUE(has(headers_for("log(v1)"), "math_log.h"));
  EXPECT_TRUE(has(headers_for("acos(v1)"), "math_libmvec.h"));
  EXPECT_TRUE(has(headers_for("cos(v1)"), "math_trig.h"));
  for (const char* header : {"math_pow.h", "math.h", "math_call.h", "math_exp.h", "math_log.h"})
    EXPECT_TRUE(has(headers_for("pow(v1, v2)"), header)) << header;
  EXPECT_TRUE(has(headers_for("reduce_lanes<Sum>(acc)"), "reduce.h"));
  EXPECT_TRUE(has(headers_for("reduce_lanes<Sum>(acc)"), "math.h")) << "reductions use maximum()";
  EXPECT_TRUE(has(headers_for("bf16* p"), "half.h"));
}

TEST(CpuHeadersTest, WordsCountNotPartsOfThem) {
  EXPECT_FALSE(has(headers_for("expected + exp_sum"), "math_exp.h"));
}

TEST(CpuHeadersTest, EveryHeaderIsEmbeddedAsItIs) {
  const char* source = std::getenv("SINTER_SOURCE_DIR");
  if (!source) GTEST_SKIP() << "SINTER_SOURCE_DIR is not set";
  const std::filesystem::path root = std::filesystem::path(source) / "kernels";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".h" && entry.path().extension() != ".cuh") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::string name = entry.path().lexically_relative(root).generic_string();
    EXPECT_TRUE(kernel_header(name) == text) << name;
  }
}

TEST(CpuHeadersTest, AnUnknownHeaderIsEmpty) { EXPECT_TRUE(kernel_header("cpu/no.h").empty()); }

}  // namespace
}  // namespace sinter
