// render_cuda() on the simt device against the interpreter: every tile program, with the renderer's
// mapping and with others. Every access to memory is checked, and memory around the buffers
// watched.
#include <gtest/gtest.h>

#include "src/base/check.h"
#include "src/base/options.h"
#include "src/simt/simt_device.h"
#include "tests/codegen/tile_case_memory.h"
#include "tests/codegen/tile_programs.h"

namespace sinter {
namespace {

SimtDevice& device() {
  static SimtDevice& device = *new SimtDevice(simt_device_options(environment_options()));
  return device;
}

// The offset moves the buffers off the boundaries that vectors want.
void expect_agrees(const TileCase& c, const tile::Mapping& mapping) {
  SCOPED_TRACE(fmt::format("{} with {} threads, {} a row, vectors of {}, clusters of {}", c.name,
                           mapping.threads, mapping.threads_per_row, mapping.vector,
                           mapping.cluster));
  Memory simt(c);
  Memory oracle(c);
  tile::interpret(c.program, oracle.bindings, c.scalars, 0, c.grid);
  tile::TileProgram program = c.program;
  program.mapping = mapping;
  device().compile(program)->launch(simt.bindings, c.scalars, c.grid, 0);
  for (std::size_t i = 0; i < c.buffers.size(); ++i) expect_same(c, i, simt, oracle);
}

class SimtProgramTest : public testing::TestWithParam<TileCase> {};

TEST_P(SimtProgramTest, AgreesWithTheInterpreter) { expect_agrees(GetParam(), {}); }

INSTANTIATE_TEST_SUITE_P(Memory, SimtProgramTest, testing::ValuesIn(memory_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Values, SimtProgramTest, testing::ValuesIn(value_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Reductions, SimtProgramTest, testing::ValuesIn(reduction_cases()),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Loops, SimtProgramTest, testing::ValuesIn(loop_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Authors, SimtProgramTest, testing::ValuesIn(author_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(AuthorsOrder, SimtProgramTest, testing::ValuesIn(author_order_cases()),
                         name_of_case);

}  // namespace
}  // namespace sinter
