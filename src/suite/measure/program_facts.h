// What a program must move and compute, from its graph.
#pragma once

#include "src/graph/parse.h"
#include "src/suite/measure/workload.h"

namespace sinter::suite {

WorkloadFacts program_facts(const ParsedProgram& program, const std::string& path);

}  // namespace sinter::suite
