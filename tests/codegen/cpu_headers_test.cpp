// Only the headers a kernel calls into are pasted before it.
#include "src/codegen/cpu_headers.h"

#include <gtest/gtest.h>

#include "src/codegen/kernel_headers.h"

namespace sinter {
namespace {

bool has(const std::string& text, const std::string& header) {
  const std::string_view content = kernel_header("cpu/" + header);
  EXPECT_FALSE(content.empty()) << header;
  return text.find(content) != std::string::npos;
}

TEST(CpuHeadersTest, TypesAndMemoryAreAlwaysThere) {
  const std::string text = headers_for("a + b");
  EXPECT_TRUE(has(text, "types.h"));
  EXPECT_TRUE(has(text, "memory.h"));
  EXPECT_FALSE(has(text, "half.h"));
  EXPECT_FALSE(has(text, "math.h"));
  EXPECT_FALSE(has(text, "reduce.h"));
  EXPECT_LT(text.find(kernel_header("cpu/types.h")), text.find(kernel_header("cpu/memory.h")));
}

TEST(CpuHeadersTest, AFunctionBringsItsHeaderAndWhatThatNeeds) {
  EXPECT_TRUE(has(headers_for("exp(v1)"), "math_exp.h"));
  EXPECT_TRUE(has(headers_for("exp(v1)"), "math_call.h"));
  EXPECT_FALSE(has(headers_for("exp(v1)"), "math_libmvec.h"));
  EXPECT_TRUE(has(headers_for("log(v1)"), "math_libmvec.h"));
  EXPECT_TRUE(has(headers_for("cos(v1)"), "math_trig.h"));
  EXPECT_TRUE(has(headers_for("reduce_add(acc)"), "reduce.h"));
  EXPECT_TRUE(has(headers_for("reduce_add(acc)"), "math.h")) << "reductions use maximum()";
  EXPECT_TRUE(has(headers_for("bf16* p"), "half.h"));
}

TEST(CpuHeadersTest, WordsCountNotPartsOfThem) {
  EXPECT_FALSE(has(headers_for("expected + exp_sum"), "math_exp.h"));
}

TEST(CpuHeadersTest, AnUnknownHeaderIsEmpty) { EXPECT_TRUE(kernel_header("cpu/no.h").empty()); }

}  // namespace
}  // namespace sinter
