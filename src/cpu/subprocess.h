// Runs a program without a shell: input from memory, output (stdout and stderr) to memory, with a
// time limit. Safe with other threads, signal handlers and ignored SIGCHLD; never raises SIGPIPE.
// The parts are exposed too, for callers that talk to a running program.
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

// `variables` are "NAME=value" and override this process's environment.
SubprocessResult run_subprocess(const std::vector<std::string>& arguments, std::string_view input,
                                std::chrono::milliseconds time_limit,
                                const std::vector<std::string>& variables = {});

struct StandardDescriptors {
  int in, out, error;  // all above 2
};

// Starts a program, given by path or found in PATH, as the leader of a process group with default
// signals. Returns 0, or errno on failure.
int spawn_process(const std::vector<std::string>& arguments, const StandardDescriptors& use,
                  pid_t& pid, const std::vector<std::string>& variables = {});

// A close-on-exec descriptor above 2, or -1. The caller closes it.
int memory_file();
std::string read_memory_file(int fd);  // the whole file, regardless of its offset

}  // namespace sinter
