// render_cuda() on a GPU against the interpreter: every tile program, with the renderer's mapping
// and with others. Guard bytes around the buffers are checked.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/codegen/tile_case_device.h"
#include "tests/codegen/tile_programs.h"
#include "tests/support/gpu.h"

namespace sinter {
namespace {

class GpuProgramTest : public testing::TestWithParam<TileCase> {
 protected:
  void SetUp() override { SINTER_NEEDS_GPU(); }
  static Device& device() { return *open_device("cuda"); }
};

TEST_P(GpuProgramTest, AgreesWithTheInterpreter) { expect_agrees(device(), GetParam(), {}); }

// SINTER_ALL_MAPPINGS=1 tests every program with all mappings.
TEST_P(GpuProgramTest, AgreesHoweverItsTilesLieOnThreads) {
  const bool all = std::getenv("SINTER_ALL_MAPPINGS") != nullptr;
  expect_agrees_with_mappings(device(), GetParam(), all ? test_mappings().size() : 3);
}

INSTANTIATE_TEST_SUITE_P(Memory, GpuProgramTest, testing::ValuesIn(memory_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(AlignedRows, GpuProgramTest, testing::ValuesIn(aligned_row_cases()),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Values, GpuProgramTest, testing::ValuesIn(value_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Reductions, GpuProgramTest, testing::ValuesIn(reduction_cases()),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Loops, GpuProgramTest, testing::ValuesIn(loop_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Authors, GpuProgramTest, testing::ValuesIn(author_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(AuthorsOrder, GpuProgramTest, testing::ValuesIn(author_order_cases()),
                         name_of_case);

}  // namespace
}  // namespace sinter
