// Robust stdout: a reader that closes the pipe (| head) is not an error, output that cannot be
// written (a full disk) is.
#pragma once

#include <exception>
#include <string>

namespace sinter::cli {

// Call before printing. From here on output is buffered.
void prepare_output();

// Flushes. Returns `code`, or kFailed with a message if the output could not be written.
int finish_output(int code);
// The same after a write that failed with the errno `error`.
int failed_output(int code, int error);

// An error message about an unwritable folder, with advice.
std::string other_folder(const std::exception& error);

// To stderr. Never throws.
void print_error(const std::string& text);

}  // namespace sinter::cli
