// Numbers on the command line: what an option accepts, said in one message.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace sinter::cli {

// Accepts decimal numbers from `least` to `most`; refuses nan, infinities and what is no number.
// `what`: "a time in seconds", for the message.
CLI::Validator number_between(double least, double most, const std::string& what);

}  // namespace sinter::cli
