// The only file that talks to the kernel's counters. On other systems than Linux every event fails
// with ENOSYS.
#include "src/profile/perf_event.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#if defined(__linux__)
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace sinter {

std::optional<double> scaled(const PerfCount& count) {
  if (count.nanoseconds_enabled == 0) return 0;  // the thread slept
  if (count.nanoseconds_running == 0) return std::nullopt;
  return static_cast<double>(count.value) * static_cast<double>(count.nanoseconds_enabled) /
         static_cast<double>(count.nanoseconds_running);
}

PerfCounter::PerfCounter(PerfCounter&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), error_(other.error_) {}

PerfCounter& PerfCounter::operator=(PerfCounter&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(error_, other.error_);
  return *this;
}

#if defined(__linux__)

namespace {

perf_event_attr attributes(const PerfEvent& event) {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.type = event.type;
  attr.config = event.config;
  attr.config1 = event.config1;
  attr.config2 = event.config2;
  attr.disabled = 1;
  attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return attr;
}

int open_event(perf_event_attr& attr, int thread_id, int processor) {
  return static_cast<int>(
      syscall(SYS_perf_event_open, &attr, thread_id, processor, -1, PERF_FLAG_FD_CLOEXEC));
}

}  // namespace

PerfEvent instructions_event() { return {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0, 0}; }

PerfCounter PerfCounter::open_thread(const PerfEvent& event, int thread_id) {
  perf_event_attr attr = attributes(event);
  attr.exclude_kernel = 1;  // perf_event_paranoid = 2 allows no more
  attr.exclude_hv = 1;
  attr.inherit = 1;
  int fd = -1;
#if defined(PERF_ATTR_SIZE_VER7)  // headers of Linux 5.13
  attr.inherit_thread = 1;        // threads, not processes
  fd = open_event(attr, thread_id, -1);
  if (fd >= 0 || errno != EINVAL) return {fd, fd < 0 ? errno : 0};
  attr.inherit_thread = 0;  // older kernel
#endif
  fd = open_event(attr, thread_id, -1);
  return {fd, fd < 0 ? errno : 0};
}

PerfCounter PerfCounter::open_processor(const PerfEvent& event, int processor) {
  // Nothing is excluded: memory controllers cannot filter by mode and reject such requests.
  perf_event_attr attr = attributes(event);
  const int fd = open_event(attr, -1, processor);
  return {fd, fd < 0 ? errno : 0};
}

PerfCounter::~PerfCounter() {
  if (fd_ >= 0) close(fd_);
}

void PerfCounter::start() const { ioctl(fd_, PERF_EVENT_IOC_ENABLE, 0); }
void PerfCounter::stop() const { ioctl(fd_, PERF_EVENT_IOC_DISABLE, 0); }

std::optional<PerfCount> PerfCounter::read() const {
  std::array<std::uint64_t, 3> words{};
  if (::read(fd_, words.data(), sizeof(words)) != sizeof(words)) return std::nullopt;
  return PerfCount{words[0], words[1], words[2]};
}

#else

PerfEvent instructions_event() { return {}; }
PerfCounter PerfCounter::open_thread(const PerfEvent&, int) { return {-1, ENOSYS}; }
PerfCounter PerfCounter::open_processor(const PerfEvent&, int) { return {-1, ENOSYS}; }
PerfCounter::~PerfCounter() = default;
void PerfCounter::start() const {}
void PerfCounter::stop() const {}
std::optional<PerfCount> PerfCounter::read() const { return std::nullopt; }

#endif

std::optional<int> perf_event_paranoid() {
  std::ifstream file("/proc/sys/kernel/perf_event_paranoid");
  int level = 0;
  return file >> level ? std::optional(level) : std::nullopt;
}

std::string why_not_counted(int error, std::optional<int> paranoid, int needed) {
  switch (error) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
    case EOPNOTSUPP:
      return "this machine shows no hardware counters to its programs (a virtual machine, usually)";
    case ENOSYS:
      return "this system has no perf_event_open: counters are read on Linux only";
    case EMFILE:
    case ENFILE:
      return "too many open files: there is a counter for each thread (ulimit -n)";
    case EBUSY:
      return "another program holds the hardware counters";
    case EACCES:
    case EPERM:
      if (paranoid && *paranoid > needed)
        return fmt::format(
            "perf_event_paranoid is {}: counters need {} or less (sysctl "
            "kernel.perf_event_paranoid={})",
            *paranoid, needed, needed);
      return "perf_event_open is forbidden (a container, usually: allow it there, or CAP_PERFMON)";
    default:
      return fmt::format("perf_event_open fails: {}", std::strerror(error));
  }
}

}  // namespace sinter
