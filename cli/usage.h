// What to say about a command line that makes no sense: what is wrong with it, what may have been
// meant, and where to read on.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace sinter::cli {

// In: the app after it threw `error`. Out: lines for stderr, with a newline at the end.
std::string usage_text(const CLI::App& app, const CLI::ParseError& error);

}  // namespace sinter::cli
