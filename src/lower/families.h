// The entries of the lowering table (family.h), one per kernel family.
#pragma once

#include <vector>

#include "src/lower/family.h"
#include "src/lower/rules.h"

namespace sinter {

Family library_family();
Family matmul_family();
Family pointwise_family();
Family row_family();
Family column_family();
Family chunked_family();

RuleText library_rule();  // a library call has nothing to choose
void list_product_rules(std::vector<RuleText>& texts);

}  // namespace sinter
