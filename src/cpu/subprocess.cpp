// Uses posix_spawn: no copy of the address space, no fork handlers. Input and output are memory
// files, so nothing has to be pumped and no pipe can break. The process leads its own group, and
// the time limit kills the whole group (a compiler driver has children).
#include "src/cpu/subprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <thread>

#include "src/runtime/interruption.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): not every libc declares it

namespace sinter {
namespace {

using Clock = std::chrono::steady_clock;
using End = SubprocessResult::End;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

bool fill(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return lseek(fd, 0, SEEK_SET) == 0;
}

// The wait status; nullopt while the process runs. `lost`: the status was reaped elsewhere.
std::optional<int> try_wait(pid_t pid, int flags, bool& lost) {
  int status = 0;
  pid_t got = -1;
  do {
    got = waitpid(pid, &status, flags);
  } while (got < 0 && errno == EINTR);
  if (got == pid) return status;
  lost = got < 0;
  return std::nullopt;
}

// Sleeps until the process ends; polls on systems without pidfd.
void wait_for_end(int pidfd, Clock::time_point deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  if (pidfd < 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return;
  }
  pollfd wanted{pidfd, POLLIN, 0};
  poll(&wanted, 1, static_cast<int>(std::max<long long>(left, 0)) + 1);
}

SubprocessResult wait_for(pid_t pid, std::chrono::milliseconds time_limit) {
#ifdef SYS_pidfd_open
  const Descriptor pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
#else
  const Descriptor pidfd(-1);
#endif
  const auto deadline = Clock::now() + time_limit;
  bool lost = false;
  std::optional<int> status;
  while (!(status = try_wait(pid, WNOHANG, lost)) && !lost) {
    if (Clock::now() >= deadline) {
      kill(-pid, SIGKILL);
      try_wait(pid, 0, lost);
      return {End::timed_out, static_cast<int>(time_limit.count()), ""};
    }
    wait_for_end(pidfd.get(), deadline);
  }
  if (!status) return {End::unknown, 0, ""};
  if (WIFEXITED(*status)) return {End::exited, WEXITSTATUS(*status), ""};
  return {End::signalled, WTERMSIG(*status), ""};
}

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

// This process's environment with `variables` overridden, null-terminated.
std::vector<char*> environment_with(const std::vector<std::string>& variables) {
  std::vector<char*> all;
  for (const std::string& variable : variables) all.push_back(const_cast<char*>(variable.c_str()));
  for (char** own = environ; own && *own; ++own)
    if (std::none_of(variables.begin(), variables.end(), [&](const std::string& variable) {
          return name_of(variable) == name_of(*own);
        }))
      all.push_back(*own);
  all.push_back(nullptr);
  return all;
}

}  // namespace

std::string SubprocessResult::describe() const {
  switch (end) {
    case End::exited:
      return fmt::format("exit status {}", code);
    case End::signalled:
      return fmt::format("killed by signal {}", code);
    case End::timed_out:
      return fmt::format("no end after {:.1f} s, killed", code / 1000.0);
    case End::not_started:
      return fmt::format("it could not be started: {}", std::strerror(code));
    case End::unknown:
      break;
  }
  return "its exit status was lost";
}

// Above 2, so that setting up the child's standard descriptors cannot overwrite it.
int memory_file() {
  const Descriptor low(memfd_create("sinter", MFD_CLOEXEC));
  return low.get() < 0 ? -1 : fcntl(low.get(), F_DUPFD_CLOEXEC, 3);
}

std::string read_memory_file(int fd) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t got = pread(fd, buffer, sizeof(buffer), static_cast<off_t>(text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

int spawn_process(const std::vector<std::string>& arguments, const StandardDescriptors& use,
                  pid_t& pid, const std::vector<std::string>& variables) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, use.in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, use.out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, use.error, STDERR_FILENO);

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(
      &attributes,
      static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP));
  std::vector<char*> environment = environment_with(variables);
  const int code =
      posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return code;
}

SubprocessResult run_subprocess(const std::vector<std::string>& arguments, std::string_view input,
                                std::chrono::milliseconds time_limit,
                                const std::vector<std::string>& variables) {
  const Descriptor in(memory_file());
  const Descriptor out(memory_file());
  if (in.get() < 0 || out.get() < 0 || !fill(in.get(), input)) return {End::not_started, errno, ""};
  pid_t pid = 0;
  if (const int code = spawn_process(arguments, {in.get(), out.get(), out.get()}, pid, variables))
    return {End::not_started, code, ""};
  const NotedChild noted(pid);
  SubprocessResult result = wait_for(pid, time_limit);
  result.output = read_memory_file(out.get());
  return result;
}

}  // namespace sinter
