// Validation of numbers on the command line, with one message.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace sinter::cli {

// Accepts decimal numbers from `least` to `most`; refuses NaN, infinities and other text. `what`
// describes the value in the message: "a time in seconds".
CLI::Validator number_between(double least, double most, const std::string& what);
// The same for whole numbers in decimal digits.
CLI::Validator whole_number_between(std::uint64_t least, std::uint64_t most,
                                    const std::string& what);

}  // namespace sinter::cli
