// All tables, in the order of the families that use them.
#include "src/lower/rules.h"

#include "src/lower/families.h"
#include "src/lower/gpu_caching.h"
#include "src/lower/gpu_loop_configs.h"
#include "src/lower/gpu_pointwise_configs.h"
#include "src/lower/gpu_row_rules.h"
#include "src/lower/gpu_transposed_rows.h"

namespace sinter {

std::vector<RuleText> config_rules() {
  std::vector<RuleText> texts{library_rule()};
  list_product_rules(texts);
  list_pointwise_rules(texts);
  texts.push_back(transposed_row_rule());
  list_row_rules(texts);
  list_loop_rules(texts);
  list_caching_rules(texts);
  return texts;
}

}  // namespace sinter
