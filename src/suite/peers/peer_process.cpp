// Polls the socket in slices, so that the program's end is noticed even if a child of it still
// holds the other end.
#include "src/suite/peers/peer_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include "src/cpu/subprocess.h"

namespace sinter::suite {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kSlice{100};
constexpr milliseconds kGrace{2000};           // time to exit after the socket is closed
constexpr std::size_t kLongestLine = 1 << 20;  // a longer line is not an answer
constexpr int kLastLines = 8;

// Above 2, so that setting up the child's standard descriptors cannot overwrite it.
int above_standard(int fd) {
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  close(fd);
  return moved;
}

// How the process ended. Leaves it a zombie, so that its pid and process group stay reserved.
bool ended(pid_t pid, std::string* how) {
  siginfo_t info{};
  const int code = waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT | WNOHANG);
  if (code != 0 && errno == ECHILD) {  // SIGCHLD is ignored, or someone reaped it
    if (how) *how = "ended";
    return true;
  }
  if (code != 0 || info.si_pid == 0) return false;
  if (how)
    *how = info.si_code == CLD_EXITED ? fmt::format("ended with exit status {}", info.si_status)
                                      : fmt::format("was killed by signal {}", info.si_status);
  return true;
}

}  // namespace

PeerProcess::PeerProcess(const std::vector<std::string>& arguments) {
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw PeerError(fmt::format("no socket for it: {}", std::strerror(errno)));
  socket_ = above_standard(ends[0]);
  const int theirs = above_standard(ends[1]);
  log_ = memory_file();
  int code = socket_ < 0 || theirs < 0 || log_ < 0 ? EMFILE : 0;
  if (code == 0) code = spawn_process(arguments, {theirs, theirs, log_}, pid_);
  if (theirs >= 0) close(theirs);
  if (code == 0) return;
  if (socket_ >= 0) close(socket_);
  if (log_ >= 0) close(log_);
  throw PeerError(fmt::format("it could not be started: {}", std::strerror(code)));
}

PeerProcess::~PeerProcess() {
  close(socket_);
  for (const auto deadline = Clock::now() + kGrace;
       Clock::now() < deadline && !ended(pid_, nullptr);)
    std::this_thread::sleep_for(milliseconds(5));
  kill(-pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  close(log_);
}

bool PeerProcess::has_ended() const { return ended(pid_, nullptr); }

void PeerProcess::write_line(const std::string& line) {
  const std::string text = line + "\n";
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t count = send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail("does not listen");
    sent += static_cast<std::size_t>(count);
  }
}

std::string PeerProcess::read_line(milliseconds time_limit) {
  const auto deadline = Clock::now() + time_limit;
  for (;;) {
    if (const std::size_t end = received_.find('\n'); end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    if (received_.size() > kLongestLine) fail("answers with no end of a line");
    if (Clock::now() >= deadline)
      fail(fmt::format("did not answer within {:.1f} s",
                       std::chrono::duration<double>(time_limit).count()));
    // Checked before reading the socket, so that output from before the end is still received.
    const bool is_over = has_ended();
    pollfd wanted{socket_, POLLIN, 0};
    const int ready = poll(&wanted, 1, is_over ? 0 : static_cast<int>(kSlice.count()));
    if (ready <= 0 && is_over) fail("is gone");
    if (ready <= 0) continue;
    char buffer[4096];
    const ssize_t count = recv(socket_, buffer, sizeof(buffer), MSG_DONTWAIT);
    if (count > 0) received_.append(buffer, static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) fail("hung up");
  }
}

void PeerProcess::fail(const std::string& what) const {
  // A program that closed the socket is about to exit; its exit status says more.
  std::string how;
  if (what == "hung up" || what == "does not listen")
    for (int i = 0; i < 100 && !ended(pid_, nullptr); ++i)
      std::this_thread::sleep_for(milliseconds(5));
  if (!ended(pid_, &how)) how = what;
  const std::string words = last_words();
  throw PeerError(words.empty() ? "it " + how : fmt::format("it {}; it wrote: {}", how, words));
}

std::string PeerProcess::last_words() const {
  std::string text = read_memory_file(log_);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::size_t first = text.size();
  for (int lines = 0; lines < kLastLines && first != std::string::npos && first > 0; ++lines)
    first = text.rfind('\n', first - 1);
  return first == std::string::npos || first == 0 ? text : text.substr(first + 1);
}

}  // namespace sinter::suite
