// An Index as C text. The dialect chooses how scalars and numbers are spelled.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "src/codegen/analysis/index.h"

namespace sinter {

struct IndexSpelling {
  std::function<std::string(tile::ValueId)> scalar;
  std::function<std::string(std::int64_t)> number;  // for numbers >= 0
};

std::string index_text(const Index& index, const IndexSpelling& spelling);
// The same as a factor of a product: in parentheses, unless it is a single name or number.
std::string factor_text(const Index& index, const IndexSpelling& spelling);

}  // namespace sinter
