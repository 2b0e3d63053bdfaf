// render_cuda() on the simt device against the interpreter: every tile program, with the renderer's
// mapping and with others. Every access to memory is checked, and memory around the buffers
// watched.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

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

// Buffers begin `shift` bytes behind a multiple of 16.
void expect_agrees(const TileCase& c, const tile::Mapping& mapping, std::size_t shift = 0) {
  SCOPED_TRACE(fmt::format("{} with {} threads, {} a row, vectors of {}, clusters of {}", c.name,
                           mapping.threads, mapping.threads_per_row, mapping.vector,
                           mapping.cluster));
  Memory simt(c, shift);
  Memory oracle(c);
  tile::interpret(c.program, oracle.bindings, c.scalars, 0, c.grid);
  tile::TileProgram program = c.program;
  program.mapping = mapping;
  try {
    device().compile(program)->launch(simt.bindings, c.scalars, c.grid, 0);
  } catch (const Error& error) {
    FAIL() << error.what();
  }
  for (std::size_t i = 0; i < c.buffers.size(); ++i) expect_same(c, i, simt, oracle);
}

const std::vector<tile::Mapping> kMappings = {
    {.threads = 32, .threads_per_row = 1, .vector = 1, .cluster = 1, .wide_index = true},
    {.threads = 64, .threads_per_row = 8, .vector = 4, .cluster = 1, .wide_index = false},
    {.threads = 96, .threads_per_row = 32, .vector = 2, .cluster = 1, .wide_index = true},
    {.threads = 256, .threads_per_row = 256, .vector = 8, .cluster = 1, .wide_index = false},
    {.threads = 1024, .threads_per_row = 1024, .vector = 1, .cluster = 1, .wide_index = true},
    {.threads = 64, .threads_per_row = 64, .vector = 1, .cluster = 2, .wide_index = true},
    {.threads = 64, .threads_per_row = 32, .vector = 4, .cluster = 8, .wide_index = false},
};

class SimtProgramTest : public testing::TestWithParam<TileCase> {};

TEST_P(SimtProgramTest, AgreesWithTheInterpreter) { expect_agrees(GetParam(), {}); }

// All of them for each program take minutes: SINTER_ALL_MAPPINGS=1.
TEST_P(SimtProgramTest, AgreesHoweverItsTilesLieOnThreads) {
  const TileCase& c = GetParam();
  const bool fits = std::all_of(c.scalars.begin(), c.scalars.end(),
                                [](std::int64_t x) { return x == static_cast<std::int32_t>(x); });
  const bool all = std::getenv("SINTER_ALL_MAPPINGS") != nullptr;
  const std::size_t first = c.name.size() + static_cast<unsigned char>(c.name.back());
  for (std::size_t i = 0; i < (all ? kMappings.size() : 2); ++i) {
    tile::Mapping mapping = kMappings[(first + i * 3) % kMappings.size()];
    mapping.wide_index = mapping.wide_index || !fits;
    if (all || i == 0) expect_agrees(c, mapping);
    if (all || i == 1) expect_agrees(c, mapping, 8);
  }
}

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
