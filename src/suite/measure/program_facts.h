// The bytes a program must move and the operations it must compute, from its graph.
#pragma once

#include "src/graph/parse.h"
#include "src/suite/measure/workload.h"

namespace sinter::suite {

WorkloadFacts program_facts(const ParsedProgram& program, const std::string& path);

}  // namespace sinter::suite
