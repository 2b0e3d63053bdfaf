// Cleaning up when a signal ends the process. For programs that own their signals, such as the
// command line: the library installs no handler by itself.
#pragma once

#include <sys/types.h>

namespace sinter {

// From now on SIGINT, SIGTERM and SIGHUP kill the children noted below, remove this process's
// temporary directories, and then take their default action. Signals that are ignored or handled
// stay so.
void clean_up_on_signals();
// The same for one signal, whatever its handler is now. Safe in a signal handler.
void clean_up_on_signal(int signal);

// A child process that leads its own group and may write into a temporary directory.
class NotedChild {
 public:
  explicit NotedChild(pid_t group);
  ~NotedChild();
  NotedChild(const NotedChild&) = delete;
  NotedChild& operator=(const NotedChild&) = delete;

 private:
  int slot_ = -1;  // -1: all are taken, and it is not known
};

}  // namespace sinter
