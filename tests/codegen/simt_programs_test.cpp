// render_cuda() on the simt device against the interpreter: every tile program, with the renderer's
// mapping and with others. Every memory access and the guard bytes around the buffers are checked.
#include <gtest/gtest.h>

#include <cstdlib>

#include "src/base/options.h"
#include "src/simt/simt_device.h"
#include "tests/codegen/tile_case_device.h"
#include "tests/codegen/tile_programs.h"

namespace sinter {
namespace {

SimtDevice& device() {
  static SimtDevice& device = *new SimtDevice(simt_device_options(environment_options()));
  return device;
}

class SimtProgramTest : public testing::TestWithParam<TileCase> {};

TEST_P(SimtProgramTest, AgreesWithTheInterpreter) { expect_agrees(device(), GetParam(), {}); }

// SINTER_ALL_MAPPINGS=1 tests every program with all mappings, which takes minutes.
TEST_P(SimtProgramTest, AgreesHoweverItsTilesLieOnThreads) {
  const bool all = std::getenv("SINTER_ALL_MAPPINGS") != nullptr;
  expect_agrees_with_mappings(device(), GetParam(), all ? test_mappings().size() : 2);
}

INSTANTIATE_TEST_SUITE_P(Memory, SimtProgramTest, testing::ValuesIn(memory_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(AlignedRows, SimtProgramTest, testing::ValuesIn(aligned_row_cases()),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Values, SimtProgramTest, testing::ValuesIn(value_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Reductions, SimtProgramTest, testing::ValuesIn(reduction_cases()),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Loops, SimtProgramTest, testing::ValuesIn(loop_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Authors, SimtProgramTest, testing::ValuesIn(author_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(AuthorsOrder, SimtProgramTest, testing::ValuesIn(author_order_cases()),
                         name_of_case);

}  // namespace
}  // namespace sinter
