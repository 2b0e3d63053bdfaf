// A child program that answers requests, one line each, for the lifetime of this object. In: its
// command line, then lines. Out: lines, or a PeerError that says how the program failed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

namespace sinter::suite {

// The program could not be started, exited, or did not answer.
class PeerError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Runs in its own process group: Ctrl-C in a terminal reaches only us, and its children are ended
// with it. Its stdin and stdout are one socket, which raises no SIGPIPE and is closed however we
// exit; its stderr is kept for error messages.
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
  std::string received_;  // data after the last line read
};

}  // namespace sinter::suite
