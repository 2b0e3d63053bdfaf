// Implements sinter/device.h with the registry: available devices, what is missing and what that
// costs, and device memory. In: a device's name. Out: values, or the registry's UserError that
// names the known devices.
#include "src/api/devices.h"

#include <sinter/allocator.h>
#include <sinter/device.h>

#include <algorithm>
#include <mutex>

#include "src/base/check.h"
#include "src/base/options.h"
#include "src/cpu/cpu_device.h"
#include "src/cuda/cuda_device.h"
#include "src/runtime/registry.h"
#include "src/simt/simt_device.h"

namespace sinter {
namespace {

// Never destroyed: tensors in static objects may outlive other statics.
struct DefaultDevice {
  std::mutex mutex;
  std::shared_ptr<Device> device;  // null until first use

  static DefaultDevice& instance() {
    static DefaultDevice& it = *new DefaultDevice;
    return it;
  }
};

void register_all_devices() {
  register_cpu_device();
  register_cuda_device();
  register_simt_device();
}

std::string note_of(const Device& device) {
  if (const auto* cpu = dynamic_cast<const CpuDevice*>(&device)) return cpu->limitation();
  if (const auto* simt = dynamic_cast<const SimtDevice*>(&device)) return simt->limitation();
  return "";
}

// One per GPU; if none is usable, one entry that says why.
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
    const std::shared_ptr<Device> device = open_device(name);
    info.description = device->description();
    info.note = note_of(*device);
    info.available = true;
  } catch (const Error& error) {
    // One unavailable device must not hide the others.
    info.note = error.what();
    if (name == "cuda") info.note += "; until then no GPU is used";
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
  if (name.empty()) return default_device_handle();
  register_all_devices();
  return find_device(register_cuda_device(name));
}

std::shared_ptr<Device> default_device_handle() {
  DefaultDevice& chosen = DefaultDevice::instance();
  const std::lock_guard lock(chosen.mutex);
  if (!chosen.device) {
    const std::string& name = environment_options().device;
    chosen.device = open_device(name.empty() ? "cpu" : name);
  }
  return chosen.device;
}

void set_default_device(const std::string& device) {
  std::shared_ptr<Device> found = open_device(device.empty() ? "cpu" : device);
  DefaultDevice& chosen = DefaultDevice::instance();
  const std::lock_guard lock(chosen.mutex);
  chosen.device = std::move(found);
}

std::string default_device() { return default_device_handle()->name(); }

std::vector<DeviceInfo> devices() {
  register_all_devices();
  for (const std::string& name : cuda_names()) register_cuda_device(name);
  std::vector<DeviceInfo> all;
  for (const std::string& name : device_names()) all.push_back(info_of(name));
  return all;
}

void synchronize(const std::string& device) { open_device(device)->synchronize(); }

DeviceMemory device_memory(const std::string& device) {
  const MemoryStats stats = open_device(device)->memory();
  return {stats.in_use, stats.peak, stats.cached};
}

void set_allocator(const std::string& device, Allocator allocator) {
  if (!allocator.allocate || !allocator.free)
    fail_user("set_allocator", "the allocator for {} has no {}; reset_allocator() removes one",
              device, allocator.allocate ? "free" : "allocate");
  open_device(device)->set_allocator(std::make_shared<const Allocator>(std::move(allocator)));
}

void reset_allocator(const std::string& device) { open_device(device)->set_allocator(nullptr); }

void reset_peak_memory(const std::string& device) { open_device(device)->reset_peak(); }

void release_cached_memory(const std::string& device) { open_device(device)->release_cached(); }

}  // namespace sinter
