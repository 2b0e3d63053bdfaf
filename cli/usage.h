// Error messages for invalid command lines: what is wrong, what may have been meant, and where to
// read more.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace sinter::cli {

// In: the app after it threw `error`. Out: text for stderr, newline-terminated.
std::string usage_text(const CLI::App& app, const CLI::ParseError& error);

}  // namespace sinter::cli
