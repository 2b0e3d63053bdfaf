// Which headers of kernels/cpu a kernel's text needs.
#pragma once

#include <string_view>
#include <vector>

namespace sinter {

// Their text, in an order that compiles: only what the functions called in `kernel` are defined in.
std::vector<std::string_view> headers_for(std::string_view kernel);

}  // namespace sinter
