// Cleanup when a signal ends the process. For programs that own their signals, such as the command
// line tool: the library installs no handler itself.
#pragma once

#include <sys/types.h>

namespace sinter {

// From now on SIGINT, SIGTERM and SIGHUP kill the children registered below, remove this process's
// temporary directories and then take their default action. Signals that are already ignored or
// handled are left alone.
void clean_up_on_signals();
// The same for one signal, regardless of its current handler. Safe in a signal handler.
void clean_up_on_signal(int signal);

// Registers a child process that leads its own group and may write into a temporary directory.
class NotedChild {
 public:
  explicit NotedChild(pid_t group);
  ~NotedChild();
  NotedChild(const NotedChild&) = delete;
  NotedChild& operator=(const NotedChild&) = delete;

 private:
  int slot_ = -1;  // -1: the table is full and the child is not registered
};

}  // namespace sinter
