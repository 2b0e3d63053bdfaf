// With a SIGPIPE handler, writing to a closed pipe fails with EPIPE. A handler rather than SIG_IGN,
// because child processes (the compiler) then get the default back.
#include "cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "cli/commands.h"

namespace sinter::cli {
namespace {

// Larger than most commands' output, so that the first write is finish_output()'s, after the exit
// code is known.
std::array<char, 1 << 18> buffer;

}  // namespace

void prepare_output() {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGPIPE, &action, nullptr);
  if (!isatty(STDOUT_FILENO)) std::setvbuf(stdout, buffer.data(), _IOFBF, buffer.size());
}

int finish_output(int code) {
  errno = 0;
  if (std::fflush(stdout) != 0) return failed_output(code, errno);
  return std::ferror(stdout) ? failed_output(code, EIO) : code;
}

int failed_output(int code, int error) {
  if (error == EPIPE) return code;
  print_error(fmt::format("sinter: cannot write the output: {}\n", std::strerror(error)));
  return kFailed;
}

std::string other_folder(const std::exception& error) {
  return fmt::format("{}; choose another folder with --out", error.what());
}

void print_error(const std::string& text) { std::fputs(text.c_str(), stderr); }

}  // namespace sinter::cli
