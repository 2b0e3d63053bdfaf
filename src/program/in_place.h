// In-place programs: results that are written over inputs. In: a planned program and the pairs of
// its options. Out: whether that is safe, and kernels marked accordingly.
#pragma once

#include "src/program/build.h"

namespace sinter {

// Call before kernels are compiled. Sets Program::runs_in_place and marks the kernels that write
// over an input they read.
void prepare_in_place(Program& program);

}  // namespace sinter
