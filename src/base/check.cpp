// Warnings are remembered by text, so that each is shown once per process.
#include "src/base/check.h"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <set>

namespace sinter {
namespace {

void write_to_stderr(const std::string& message) {
  std::fprintf(stderr, "sinter: %s\n", message.c_str());
}

std::atomic<WarningHandler> g_handler{&write_to_stderr};

}  // namespace

WarningHandler set_warning_handler(WarningHandler handler) {
  return g_handler.exchange(handler ? handler : &write_to_stderr);
}

void warn_once(const std::string& message) {
  static std::mutex mutex;
  static std::set<std::string> given;
  {
    std::lock_guard lock(mutex);
    if (!given.insert(message).second) return;
  }
  g_handler.load()(message);
}

void fail_internal(const char* condition, const char* file, int line, const std::string& detail) {
  throw InternalError(fmt::format("internal error: {} does not hold at {}:{}{}{}; please report it",
                                  condition, file, line, detail.empty() ? "" : ": ", detail));
}

}  // namespace sinter
