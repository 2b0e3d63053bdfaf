// Kernel sources without the headers pasted before each kernel.
#pragma once

#include <string>
#include <string_view>

namespace sinter::cli {

std::string without_headers(std::string_view sources);

}  // namespace sinter::cli
