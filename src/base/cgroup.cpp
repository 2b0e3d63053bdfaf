// Reads /proc/self/cgroup, then the limit files from the process's group up to the root; the
// tightest limit counts. Inside a container the path may name a group outside it, so the mount's
// root is read too.
#include "src/base/cgroup.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace sinter {
namespace {

constexpr char kRoot[] = "/sys/fs/cgroup";

std::optional<std::uint64_t> read_number(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  if (file >> number) return number;
  return std::nullopt;  // missing, or "max"
}

// The value after `key` in a file of "key value" lines.
std::uint64_t read_field(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string name;
  std::uint64_t number = 0;
  while (file >> name >> number)
    if (name == key) return number;
  return 0;
}

// The directories of `controller`, innermost first; an empty name means version 2.
std::vector<std::string> group_directories(const std::string& controller) {
  std::ifstream file("/proc/self/cgroup");
  std::vector<std::string> directories;
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
    if (names.find("," + controller + ",") == std::string::npos) continue;
    const std::string mount = controller.empty() ? kRoot : std::string(kRoot) + "/" + controller;
    std::string path = line.substr(second + 1);
    for (; path.size() > 1; path.erase(path.rfind('/'))) directories.push_back(mount + path);
    directories.push_back(mount);
  }
  return directories;
}

void keep_smaller(std::optional<double>& best, double value) {
  if (!best || value < *best) best = value;
}

void keep_tighter(std::optional<CgroupMemory>& best, const CgroupMemory& found) {
  // Version 1 writes a huge number for "no limit".
  if (found.limit >= std::numeric_limits<std::int64_t>::max() / 2) return;
  const auto room = [](const CgroupMemory& m) { return m.limit - std::min(m.limit, m.used); };
  if (!best || room(found) < room(*best)) best = found;
}

}  // namespace

std::optional<double> cgroup_cpus() {
  std::optional<double> cpus;
  for (const std::string& directory : group_directories("")) {
    std::ifstream file(directory + "/cpu.max");
    double quota = 0;
    double period = 0;
    if (file >> quota >> period && period > 0) keep_smaller(cpus, quota / period);
  }
  for (const std::string& directory : group_directories("cpu")) {
    const auto quota = read_number(directory + "/cpu.cfs_quota_us");  // -1: no limit, not a number
    const auto period = read_number(directory + "/cpu.cfs_period_us");
    if (quota && period && *quota > 0 && *quota < std::uint64_t{1} << 40 && *period > 0)
      keep_smaller(cpus, static_cast<double>(*quota) / static_cast<double>(*period));
  }
  return cpus;
}

std::optional<CgroupMemory> cgroup_memory() {
  std::optional<CgroupMemory> memory;
  const auto consider = [&](const std::string& directory, const char* limit_file,
                            const char* used_file, const char* cache_field) {
    const auto limit = read_number(directory + limit_file);
    const auto used = read_number(directory + used_file);
    if (!limit || !used) return;
    const std::uint64_t cache = read_field(directory + "/memory.stat", cache_field);
    keep_tighter(memory, {*limit, *used - std::min(*used, cache)});
  };
  for (const std::string& directory : group_directories(""))
    consider(directory, "/memory.max", "/memory.current", "inactive_file");
  for (const std::string& directory : group_directories("memory"))
    consider(directory, "/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file");
  return memory;
}

}  // namespace sinter
