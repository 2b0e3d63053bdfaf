// A table of headers and the functions they define.
#include "src/codegen/cpu/headers.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "src/base/check.h"
#include "src/codegen/kernel_headers.h"

namespace sinter {
namespace {

struct HeaderRow {
  std::string_view name;
  std::string_view functions;  // space-separated; empty: always included
  std::string_view needs;      // other headers, space-separated
};

// In inclusion order.
constexpr std::array kHeaders = {
    HeaderRow{"types.h", "", ""},
    HeaderRow{"memory.h", "", ""},
    HeaderRow{"half.h", "f16 bf16 round_f16 round_bf16", ""},
    HeaderRow{"math.h",
              "maximum minimum abs floor ceil round trunc sqrt rsqrt reciprocal fma isnan isinf "
              "isfinite",
              ""},
    HeaderRow{"math_divide.h", "remainder floor_div", "math.h"},
    HeaderRow{"reduce.h", "SN_REDUCTION SN_POSITION_REDUCTION reduce_lanes reduce_positions",
              "math.h"},
    HeaderRow{"math_call.h", "?", ""},
    HeaderRow{"math_exp.h", "exp exp2 expm1 sinh cosh tanh sigmoid", "math_call.h"},
    HeaderRow{"math_log.h", "log log2 log10 log1p", "math_call.h"},
    HeaderRow{"math_trig.h", "sin cos tan", "math_call.h"},
    HeaderRow{"math_libmvec.h", "asin acos atan asinh acosh atanh erf erfc atan2", "math_call.h"},
    HeaderRow{"math_pow.h", "pow", "math.h math_call.h math_exp.h math_log.h"},
    HeaderRow{"integer_pow.h", "pow", ""},
    HeaderRow{"transpose.h", "transpose_load", ""},
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::set<std::string_view> words_of(std::string_view text) {
  std::set<std::string_view> words;
  for (std::size_t i = 0; i < text.size();) {
    if (!is_word(text[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    words.insert(text.substr(i, end - i));
    i = end;
  }
  return words;
}

bool intersects(const std::set<std::string_view>& a, const std::set<std::string_view>& b) {
  return std::any_of(b.begin(), b.end(), [&](std::string_view word) { return a.count(word) > 0; });
}

}  // namespace

std::vector<std::string_view> headers_for(std::string_view kernel) {
  const std::set<std::string_view> used = words_of(kernel);
  std::set<std::string_view> wanted;
  for (const HeaderRow& row : kHeaders) {
    if (!row.functions.empty() && !intersects(used, words_of(row.functions))) continue;
    wanted.insert(row.name);
    for (const HeaderRow& other : kHeaders)
      if (row.needs.find(other.name) != std::string_view::npos) wanted.insert(other.name);
  }
  std::vector<std::string_view> headers;
  for (const HeaderRow& row : kHeaders) {
    if (!wanted.count(row.name)) continue;
    const std::string_view header = kernel_header("cpu/" + std::string(row.name));
    SINTER_ASSERT(!header.empty(), "kernels/cpu/{} is not embedded", row.name);
    headers.push_back(header);
  }
  return headers;
}

}  // namespace sinter
