// Runs a program without a shell: input from memory, output (stdout and stderr) to memory, a time
// limit. Safe beside other threads, signal handlers, ignored SIGCHLD; cannot raise SIGPIPE.
// And its parts, for those who talk with a program while it runs.
#pragma once

#include <sys/types.h>

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

// `variables`: "NAME=value", in the place of what this process's environment says.
SubprocessResult run_subprocess(const std::vector<std::string>& arguments, std::string_view input,
                                std::chrono::milliseconds time_limit,
                                const std::vector<std::string>& variables = {});

struct StandardDescriptors {
  int in, out, error;  // all above 2
};

// Starts a program, by its path or found in PATH, as the leader of a process group, with default
// signals. Returns the errno of a failure, else 0.
int spawn_process(const std::vector<std::string>& arguments, const StandardDescriptors& use,
                  pid_t& pid, const std::vector<std::string>& variables = {});

// A descriptor above 2 that is closed on exec, or -1. Whoever asks closes it.
int memory_file();
std::string read_memory_file(int fd);  // all of it, wherever its offset is

}  // namespace sinter
