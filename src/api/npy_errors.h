// Errors of load_npy() and save_npy(): the message names the file.
#pragma once

#include <sinter/error.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "src/base/check.h"

namespace sinter {

inline std::string errno_text(int code) { return std::generic_category().message(code); }

template <typename... Args>
[[noreturn]] void fail_load(const std::string& path, fmt::format_string<Args...> format,
                            Args&&... args) {
  fail_user("load_npy", "{}: {}", path, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
[[noreturn]] void fail_save(const std::string& path, fmt::format_string<Args...> format,
                            Args&&... args) {
  fail_user("save_npy", "{}: {}", path, fmt::format(format, std::forward<Args>(args)...));
}

// A full or failing disk is not the caller's mistake.
inline void throw_if_disk_failed(std::string_view op, const std::string& path, int code) {
  if (code == ENOSPC || code == EDQUOT || code == EIO)
    throw IoError(fmt::format("[{}] {}: {}", op, path, errno_text(code)));
}

}  // namespace sinter
