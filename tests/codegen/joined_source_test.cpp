// Texts with the same names and macros are joined into one that compiles.
#include "src/codegen/joined_source.h"

#include <gtest/gtest.h>

#include "src/base/options.h"
#include "src/cpu/cpu_device.h"
#include "src/runtime/compile_kernel.h"
#include "tests/codegen/tile_case_device.h"
#include "tests/codegen/tile_programs.h"

namespace sinter {
namespace {

TEST(JoinSources, NamesAndMacrosEndWithTheirPart) {
  const SourcePart one{"#define WIDTH 4\nnamespace sn { int f() { return WIDTH; } }\n",
                       {"sn", "f"}};
  const SourcePart other{"#define WIDTH 8\nnamespace sn { int f() { return WIDTH; } }\n",
                         {"sn", "f"}};
  const std::string text = join_sources(std::vector{one, other});
  EXPECT_NE(text.find("#define f f_0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("#define f f_1\n"), std::string::npos) << text;
  const std::size_t end_of_first = text.find("#undef WIDTH\n");
  EXPECT_LT(end_of_first, text.find("#define WIDTH 8")) << text;
  EXPECT_LT(text.find("#undef sn\n"), text.find("#define sn sn_1\n")) << text;
  EXPECT_EQ(joined_name("f", 1), "f_1");
}

TEST(CompileTogether, KernelsAreFoundInMemoryAndRight) {
  CpuDevice device(cpu_device_options(environment_options()));
  const std::vector<TileCase> cases = value_cases();
  std::vector<tile::TileProgram> programs;
  std::vector<const tile::TileProgram*> pointers;
  for (const TileCase& each : cases) programs.push_back(each.program);
  for (tile::TileProgram& program : programs) pointers.push_back(&program);
  compile_together(device, pointers);
  EXPECT_EQ(device.kernels().size(), programs.size());
  for (const TileCase& each : cases) expect_agrees(device, each, {});
}

}  // namespace
}  // namespace sinter
