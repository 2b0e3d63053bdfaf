// The entries of the lowering table (family.h), one per kernel family.
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
