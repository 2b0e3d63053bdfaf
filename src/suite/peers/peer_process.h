// A program that is asked and answers, a line each way, for as long as this lives.
// In: its command line, then lines. Out: lines, or a PeerError that says how the program failed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

namespace sinter::suite {

// The program could not be started, ended, or did not answer.
class PeerError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// In a process group of its own: Ctrl-C in a terminal reaches only us, and what the program starts
// ends with it. Its stdin and stdout are one socket, which raises no SIGPIPE, and which the program
// sees closed however we end; its stderr is kept for error messages.
class PeerProcess {
 public:
  explicit PeerProcess(const std::vector<std::string>& arguments);  // PeerError
  ~PeerProcess();  // closes the socket, waits a moment, then kills
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  void write_line(const std::string& line);                     // PeerError
  std::string read_line(std::chrono::milliseconds time_limit);  // PeerError
  bool has_ended() const;

 private:
  [[noreturn]] void fail(const std::string& what) const;
  std::string last_words() const;

  pid_t pid_ = -1;
  int socket_ = -1;
  int log_ = -1;
  std::string received_;  // after the last line that was read
};

}  // namespace sinter::suite
