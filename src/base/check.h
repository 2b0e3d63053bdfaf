// Error reporting inside Sinter: fail_user() for the caller's mistakes, SINTER_ASSERT for our bugs,
// warn_once() for conditions that are not fatal.
#pragma once

#include <fmt/format.h>
#include <sinter/error.h>

#include <string>
#include <string_view>

namespace sinter {

// "[matmul] inner dimensions differ: ..." with op = "matmul".
template <typename... Args>
[[noreturn]] void fail_user(std::string_view op, fmt::format_string<Args...> format,
                            Args&&... args) {
  throw UserError(fmt::format("[{}] {}", op, fmt::format(format, std::forward<Args>(args)...)));
}

[[noreturn]] void fail_internal(const char* condition, const char* file, int line,
                                const std::string& detail);

void warn_once(const std::string& message);

}  // namespace sinter

#define SINTER_ASSERT(condition, ...)                                                         \
  do {                                                                                        \
    if (!(condition))                                                                         \
      ::sinter::fail_internal(#condition, __FILE__, __LINE__, ::fmt::format("" __VA_ARGS__)); \
  } while (false)
