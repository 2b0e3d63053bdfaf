// Uses cpuid on x86, /proc and /sys elsewhere.
#include "src/cpu/cpu_info.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <vector>

#include "src/base/cgroup.h"
#include "src/base/check.h"
#include "src/base/hash.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#define SINTER_X86 1
#endif

namespace sinter {
namespace {

// "32768K" -> bytes; 0 if it cannot be read.
std::int64_t read_cache_size(const std::string& path) {
  std::ifstream file(path);
  std::int64_t number = 0;
  char unit = ' ';
  if (!(file >> number)) return 0;
  file >> unit;
  return unit == 'M' ? number << 20 : unit == 'K' ? number << 10 : number;
}

// The value of the first "key : value" line of /proc/cpuinfo.
std::string cpuinfo_field(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with(key) && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

}  // namespace

int native_vector_bytes() {
#ifdef SINTER_X86
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
    return 64;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 32;
#endif
  return 16;
}

bool libmvec_available() {
  void* library = dlopen("libmvec.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library) dlclose(library);
  return library != nullptr;
}

std::int64_t last_level_cache_bytes() {
  // sysconf(_SC_LEVEL3_CACHE_SIZE) sums all caches of a package; this is the part one core can use.
  std::int64_t largest = 0;
  for (int index = 0; index < 8; ++index)
    largest = std::max(largest, read_cache_size(fmt::format(
                                    "/sys/devices/system/cpu/cpu0/cache/index{}/size", index)));
  return largest > 0 ? largest : std::int64_t{8} << 20;
}

std::string cpu_model() {
  const std::string model = cpuinfo_field("model name");
#ifdef SINTER_X86
  return model.empty() ? "x86-64" : model;
#else
  return model.empty() ? "unknown processor" : model;
#endif
}

std::string cpu_fingerprint() {
#ifdef SINTER_X86
  // Family, model and stepping select -march=native's tuning, the feature bits its instructions.
  // Leaf 1's ebx holds the current core's number and is omitted.
  Hasher hasher;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(0, &a, &b, &c, &d)) hasher.add(b).add(c).add(d);
  if (__get_cpuid(1, &a, &b, &c, &d)) hasher.add(a).add(c).add(d);
  for (unsigned sub = 0; sub < 2; ++sub)
    if (__get_cpuid_count(7, sub, &a, &b, &c, &d)) hasher.add(a).add(b).add(c).add(d);
  if (__get_cpuid(0x80000001, &a, &b, &c, &d)) hasher.add(c).add(d);
  // The registers that the OS saves: AVX-512 in cpuid is useless if it does not save them.
  hasher.add(static_cast<std::uint64_t>(native_vector_bytes()));
  return hasher.finish().hex();
#else
  return hash_bytes(cpuinfo_field("Features") + cpuinfo_field("isa") + cpuinfo_field("CPU part"))
      .hex();
#endif
}

SystemMemory system_memory() {
  std::ifstream file("/proc/meminfo");
  SystemMemory memory;
  std::string key;
  for (std::uint64_t kib = 0; file >> key >> kib;) {
    if (key == "MemTotal:") memory.total = kib << 10;
    if (key == "MemAvailable:") memory.available = kib << 10;
    if (memory.total && memory.available) break;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  if (!memory.available) return {UINT64_MAX, UINT64_MAX};  // no /proc: only mmap can refuse
  if (const auto group = cgroup_memory()) {
    memory.total = std::min(memory.total, group->limit);
    memory.available =
        std::min(memory.available, group->limit - std::min(group->limit, group->used));
  }
  return memory;
}

}  // namespace sinter
