// The functions of sinter/device.h, on top of the registry: what there is, what is missing and what
// that costs, and the memory a device holds.
// In: a device's name. Out: values, or the registry's UserError that names the known devices.
#include <sinter/device.h>

#include <algorithm>

#include "src/api/device_lookup.h"
#include "src/base/check.h"
#include "src/base/options.h"
#include "src/cpu/cpu_device.h"
#include "src/cpu/host_compiler.h"
#include "src/cuda/cuda_device.h"
#include "src/runtime/registry.h"

namespace sinter {
namespace {

// What the device does without, as it found it: looked up as the device does when it is made.
std::string cpu_note() {
  constexpr char kCost[] = "kernels run in the interpreter, hundreds of times slower";
  const std::string& cxx = environment_options().cxx;
  if (cxx == kNoCompiler) return fmt::format("no compiler is used (SINTER_CXX is none): {}", kCost);
  if (HostCompiler::find({.cxx = cxx, .failed_sources = ""})) return "";
  return fmt::format("no compiler found (looked for {}): {}; install g++ or set SINTER_CXX",
                     HostCompiler::kLookedFor, kCost);
}

// One for each GPU; where none can be used, one that says why.
std::vector<std::string> cuda_names() {
  int count = 1;
  if (why_no_cuda().empty()) cuda_driver().device_get_count(&count);
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(cuda_device_name(i));
  return names;
}

DeviceInfo info_of(const std::string& name) {
  DeviceInfo info;
  info.name = name;
  try {
    info.description = device_named(name)->description();
    if (name == "cpu") info.note = cpu_note();
    info.available = true;
  } catch (const Error& error) {
    // One device that cannot be made is no reason to hide the others.
    info.note = error.what();
    if (name == "cuda") info.note += "; until then no GPU is used";
  }
  return info;
}

}  // namespace

std::vector<std::string> known_device_names() {
  register_devices();
  for (const std::string& name : cuda_names()) register_cuda_device(name);
  std::vector<std::string> names = device_names();
  constexpr char kSimt[] = "simt";
  if (std::find(names.begin(), names.end(), kSimt) == names.end()) names.emplace_back(kSimt);
  return names;
}

std::vector<DeviceInfo> devices() {
  register_devices();
  for (const std::string& name : cuda_names()) register_cuda_device(name);
  std::vector<DeviceInfo> all;
  for (const std::string& name : device_names()) all.push_back(info_of(name));
  return all;
}

void synchronize(const std::string& device) { device_named(device)->synchronize(); }

DeviceMemory device_memory(const std::string& device) {
  const MemoryStats stats = device_named(device)->memory();
  return {stats.in_use, stats.peak, stats.cached};
}

void reset_peak_memory(const std::string& device) { device_named(device)->reset_peak(); }

void release_cached_memory(const std::string& device) { device_named(device)->release_cached(); }

}  // namespace sinter
