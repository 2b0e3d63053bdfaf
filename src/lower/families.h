// The rows of the lowering table. In: an IterationSpace.
// Out: each family's offer and kernel.
#pragma once

#include "src/lower/family.h"

namespace sinter {

Family library_family();
Family matmul_family();
Family pointwise_family();
Family row_family();
Family column_family();
Family chunked_family();

}  // namespace sinter
