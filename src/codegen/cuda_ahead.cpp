#include "src/codegen/cuda_ahead.h"

#include <algorithm>

#include "src/base/check.h"
#include "src/codegen/cuda_loads.h"

namespace sinter {

using tile::Code;
using tile::Instr;

CudaAhead::CudaAhead(const CudaValues& values, const std::vector<Stage>& stages) {
  const auto varies = [&](tile::ValueId id) { return id != tile::kNoValue && varying_.count(id); };
  for (const Instr& instr : values.program.body) {
    SINTER_ASSERT(instr.code != Code::loop, "{}: a loop in programs that follow each other",
                  values.program.name);
    const bool reads_results = instr.code == Code::load && values.buffer(instr).written;
    if (instr.code == Code::program_id || reads_results ||
        std::any_of(instr.args.begin(), instr.args.end(), varies))
      varying_.insert(instr.results.begin(), instr.results.end());
  }
  for (const Stage& stage : stages)
    for (const Instr* instr : stage.elements)
      if (instr->code == Code::load && is_shared(*instr)) {
        if (values.layout.mapping().late_loads && CudaLoads::can_be_fetched(values, *instr))
          late_shared_loads_.push_back(instr);
        else if (!values.layout.mapping().late_loads && CudaLoads::is_ahead(values, *instr))
          shared_loads_.push_back(instr);
      }
  for (const Instr* instr : stages.front().elements)
    if (instr->code == Code::load && !is_shared(*instr) &&
        CudaLoads::can_be_fetched(values, *instr))
      fetched_loads_.push_back(instr);
  for (const Instr* instr : stages.front().scalars)
    if (!instr->results.empty() && values.is_offset(instr->results[0]) && !is_shared(*instr))
      offsets_.push_back(instr);
}

bool CudaAhead::is_shared(const Instr& instr) const {
  return instr.code != Code::store &&
         std::none_of(instr.results.begin(), instr.results.end(),
                      [&](tile::ValueId id) { return varying_.count(id) > 0; });
}

}  // namespace sinter
