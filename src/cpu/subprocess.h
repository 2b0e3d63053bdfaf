// Runs a program without a shell: input from memory, output (stdout and stderr) to memory, a time
// limit. Safe beside other threads, signal handlers, ignored SIGCHLD; cannot raise SIGPIPE.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace sinter {

struct SubprocessResult {
  enum class End { exited, signalled, timed_out, not_started, unknown };
  End end = End::unknown;  // unknown: someone else reaped the process
  int code = 0;            // exit status, signal, or errno
  std::string output;

  bool succeeded() const { return (end == End::exited && code == 0) || end == End::unknown; }
  std::string describe() const;  // "exit status 1"
};

SubprocessResult run_subprocess(const std::vector<std::string>& arguments, std::string_view input,
                                std::chrono::milliseconds time_limit);

}  // namespace sinter
