// The handler takes no lock and does not allocate: children are kept in a table of atomics.
#include "src/runtime/interruption.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "src/runtime/temporary_directory.h"

namespace sinter {
namespace {

constexpr int kMostChildren = 64;  // concurrent compilers
std::atomic<pid_t> g_children[kMostChildren];
// The process that installed the handlers; a forked child is another.
std::atomic<pid_t> g_owner = 0;

void clean_up_and_end(int signal) {
  if (g_owner == getpid()) {
    for (const std::atomic<pid_t>& child : g_children)
      if (const pid_t group = child.load()) kill(-group, SIGKILL);
    remove_temporary_directories_in_handler();
  }
  // The disposition was reset on entry to this handler; the signal is blocked until it returns.
  raise(signal);
}

}  // namespace

void clean_up_on_signal(int signal) {
  g_owner = getpid();
  struct sigaction action {};
  action.sa_handler = &clean_up_and_end;
  action.sa_flags = SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

void clean_up_on_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_DFL)
      clean_up_on_signal(signal);
  }
}

NotedChild::NotedChild(pid_t group) {
  for (int slot = 0; slot < kMostChildren && slot_ < 0; ++slot) {
    pid_t free = 0;
    if (g_children[slot].compare_exchange_strong(free, group)) slot_ = slot;
  }
}

NotedChild::~NotedChild() {
  if (slot_ >= 0) g_children[slot_] = 0;
}

}  // namespace sinter
