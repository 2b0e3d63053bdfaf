// Selects the headers of kernels/cpu that a kernel's text needs.
#pragma once

#include <string_view>
#include <vector>

namespace sinter {

// The text of the headers that define the functions called in `kernel`, in dependency order.
std::vector<std::string_view> headers_for(std::string_view kernel);

}  // namespace sinter
