// The functions of sinter/device.h, on top of the registry: what there is, what is missing and what
// that costs, and the memory a device holds.
// In: a device's name. Out: values, or the registry's UserError that names the known devices.
#include "src/api/devices.h"

#include <sinter/device.h>

#include <algorithm>
#include <memory>

#include "src/base/check.h"
#include "src/base/options.h"
#include "src/cpu/cpu_device.h"
#include "src/cpu/host_compiler.h"
#include "src/cuda/driver.h"
#include "src/runtime/registry.h"
#include "src/simt/simt_device.h"

namespace sinter {
namespace {

void register_all_devices() {
  register_cpu_device();
  register_simt_device();
}

// What the device does without, as it found it: looked up as the device does when it is made.
std::string cpu_note() {
  constexpr char kCost[] = "kernels run in the interpreter, hundreds of times slower";
  const std::string& cxx = environment_options().cxx;
  if (cxx == kNoCompiler) return fmt::format("no compiler is used (SINTER_CXX is none): {}", kCost);
  if (HostCompiler::find({.cxx = cxx, .failed_sources = ""})) return "";
  return fmt::format("no compiler found (looked for {}): {}; install g++ or set SINTER_CXX",
                     HostCompiler::kLookedFor, kCost);
}

// Where no device of that name is registered: what there is all the same, or why not.
std::string cuda_note() {
  try {
    const std::vector<CudaDeviceDescription> found = cuda_devices();
    return fmt::format(
        "found {}{}; this build of Sinter runs kernels on the CPU only, and can time CUDA code "
        "(sinter/bench.h, BenchClock::cuda)",
        found.front().name, found.size() > 1 ? fmt::format(" and {} more", found.size() - 1) : "");
  } catch (const DeviceError& error) {
    return fmt::format("{}; until then no GPU is used and no CUDA code can be timed", error.what());
  }
}

DeviceInfo info_of(const std::string& name) {
  DeviceInfo info;
  info.name = name;
  try {
    info.description = open_device(name)->description();
    if (name == "cpu") info.note = cpu_note();
    info.available = true;
  } catch (const Error& error) {
    // One device that cannot be made is no reason to hide the others.
    info.note = error.what();
  }
  return info;
}

}  // namespace

std::vector<std::string> known_device_names() {
  register_all_devices();
  std::vector<std::string> names = device_names();
  for (const char* name : {"cuda", "simt"})
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  return names;
}

std::shared_ptr<Device> open_device(const std::string& name) {
  register_all_devices();
  return find_device(name);
}

std::vector<DeviceInfo> devices() {
  register_all_devices();
  std::vector<DeviceInfo> all;
  for (const std::string& name : device_names()) all.push_back(info_of(name));
  const auto is_cuda = [](const DeviceInfo& info) { return info.name == "cuda"; };
  if (std::none_of(all.begin(), all.end(), is_cuda))
    all.push_back({"cuda", "", false, cuda_note()});
  return all;
}

DeviceMemory device_memory(const std::string& device) {
  const MemoryStats stats = open_device(device)->memory();
  return {stats.in_use, stats.peak, stats.cached};
}

void reset_peak_memory(const std::string& device) { open_device(device)->reset_peak(); }

void release_cached_memory(const std::string& device) { open_device(device)->release_cached(); }

}  // namespace sinter
