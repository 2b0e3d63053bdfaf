// stdout as a tool should treat it: a reader who has seen enough (| head) is no error, and output
// that could not be written (a full disk) is one.
#pragma once

#include <exception>
#include <string>

namespace sinter::cli {

// Before anything is printed. From here on output is written at the end, or when there is much.
void prepare_output();

// Writes what is left. `code`, or kFailed with a message if the output could not be written.
int finish_output(int code);
// The same after a write that failed with `error`, an errno.
int failed_output(int code, int error);

// The message of a folder that cannot be written, with what to do.
std::string other_folder(const std::exception& error);

// To stderr. Never throws, whatever stderr is.
void print_error(const std::string& text);

}  // namespace sinter::cli
