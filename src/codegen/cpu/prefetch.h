// Software prefetch for data that comes from memory rather than from cache. In: a block's stages
// and its counter. Out: the prefetch instructions, and the stages that issue them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "src/codegen/analysis/schedule.h"
#include "src/codegen/cpu/values.h"

namespace sinter {

struct StagePrefetches {
  std::vector<std::string> lines;                   // executed once per vector
  std::map<tile::ValueId, std::string> next_tiles;  // address of a transposed load's next tile
};

struct Prefetches {
  std::vector<std::string> declarations;  // the counter's next value and scalars computed from it
  std::map<int, StagePrefetches> stages;  // the stages that issue prefetches
};

// `counter` changes between executions of the block: a loop's counter for its body, otherwise
// (kNoValue) the program id. `next` is the text of the value to prefetch for.
Prefetches plan_prefetches(const CpuValues& values, const std::vector<Stage>& stages,
                           tile::ValueId counter, const std::string& next);

}  // namespace sinter
