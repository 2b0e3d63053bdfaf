// A value varies if it depends on the program id, or is only known after a stage has run.
#include "src/codegen/cuda/prefetch.h"

#include <algorithm>

#include "src/base/check.h"
#include "src/codegen/cuda/loads.h"

namespace sinter {

using tile::Code;
using tile::Instr;

namespace {

// Stages with tiles of different shapes may contain the same load.
void add_once(const Instr* load, std::vector<const Instr*>& loads) {
  if (std::find(loads.begin(), loads.end(), load) == loads.end()) loads.push_back(load);
}

}  // namespace

CudaPrefetch::CudaPrefetch(const CudaValues& values, const std::vector<Stage>& stages) {
  find_varying(values);
  for (const Stage& stage : stages)
    for (const Instr* instr : stage.elements)
      if (instr->code == Code::load && is_shared(*instr)) {
        if (values.layout.mapping().late_loads && CudaLoads::can_be_fetched(values, *instr))
          add_once(instr, late_shared_loads_);
        else if (!values.layout.mapping().late_loads && CudaLoads::can_load_early(values, *instr))
          shared_loads_.push_back(instr);
      }
  for (const Instr* instr : stages.front().elements)
    if (instr->code == Code::load && !is_shared(*instr) &&
        CudaLoads::can_be_fetched(values, *instr) && has_early_address(*instr))
      fetched_loads_.push_back(instr);
  for (const Instr* instr : stages.front().scalars)
    if (!instr->results.empty() && values.is_offset(instr->results[0]) && !is_shared(*instr))
      offsets_.push_back(instr);
}

void CudaPrefetch::find_varying(const CudaValues& values) {
  const auto any_of = [](const std::set<tile::ValueId>& ids, const Instr& instr) {
    return std::any_of(instr.args.begin(), instr.args.end(),
                       [&](tile::ValueId id) { return ids.count(id) > 0; });
  };
  for (const Instr& instr : values.program.body) {
    SINTER_ASSERT(instr.code != Code::loop, "{}: a loop in programs that follow each other",
                  values.program.name);
    const bool reads_results = instr.code == Code::load && values.buffer(instr).written;
    // The result of a reduction is known only after its stage, even if its operand does not vary.
    if (instr.code != Code::program_id && instr.code != Code::reduce && !reads_results &&
        !any_of(varying_, instr))
      continue;
    for (tile::ValueId id : instr.results) {
      varying_.insert(id);
      if (any_of(computed_, instr) || (values.is_scalar(id) && !values.is_offset(id)))
        computed_.insert(id);
    }
  }
}

bool CudaPrefetch::has_early_address(const Instr& load) const {
  return !computed_.count(load.args[0]) && !computed_.count(load.args[1]);
}

bool CudaPrefetch::is_shared(const Instr& instr) const {
  return instr.code != Code::store &&
         std::none_of(instr.results.begin(), instr.results.end(),
                      [&](tile::ValueId id) { return varying_.count(id) > 0; });
}

}  // namespace sinter
