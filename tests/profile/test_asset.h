// The files of tests/profile/embedded/, embedded like the library's own.
#pragma once

#include <string_view>

namespace sinter {

std::string_view test_asset(std::string_view name);

}  // namespace sinter
