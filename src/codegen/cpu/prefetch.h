// Prefetches: what a block asks for ahead of its time, because it comes from memory rather than
// from cache. In: a block's stages and its counter. Out: the lines that ask, and where to put them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "src/codegen/analysis/schedule.h"
#include "src/codegen/cpu/values.h"

namespace sinter {

struct StagePrefetches {
  std::vector<std::string> lines;                   // for each vector
  std::map<tile::ValueId, std::string> next_tiles;  // where a transposed load's next tile begins
};

struct Prefetches {
  std::vector<std::string> declarations;  // the counter's next value and what follows from it
  std::map<int, StagePrefetches> stages;  // those that ask
};

// `counter` is what steps from one run of the block to the next: of a loop's body the loop's
// counter, else (kNoValue) the program's number. `next` is the text of its later value.
Prefetches plan_prefetches(const CpuValues& values, const std::vector<Stage>& stages,
                           tile::ValueId counter, const std::string& next);

}  // namespace sinter
