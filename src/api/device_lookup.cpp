// The default device is found once and kept until another one is set.
// In: names. Out: the registry's devices.
#include "src/api/device_lookup.h"

#include <sinter/device.h>

#include <mutex>

#include "src/base/options.h"
#include "src/cpu/cpu_device.h"
#include "src/cuda/cuda_device.h"
#include "src/runtime/registry.h"

namespace sinter {
namespace {

// Never destroyed: tensors in static objects may outlive everything else.
struct DefaultDevice {
  std::mutex mutex;
  std::shared_ptr<Device> device;  // null: not asked for yet

  static DefaultDevice& instance() {
    static DefaultDevice& it = *new DefaultDevice;
    return it;
  }
};

}  // namespace

void register_devices() {
  register_cpu_device();
  register_cuda_device();
}

std::shared_ptr<Device> device_named(const std::string& name) {
  if (name.empty()) return default_device_handle();
  register_devices();
  return find_device(register_cuda_device(name));
}

std::shared_ptr<Device> default_device_handle() {
  DefaultDevice& chosen = DefaultDevice::instance();
  const std::lock_guard lock(chosen.mutex);
  if (!chosen.device) {
    const std::string& name = environment_options().device;
    chosen.device = device_named(name.empty() ? "cpu" : name);
  }
  return chosen.device;
}

void set_default_device(const std::string& device) {
  std::shared_ptr<Device> found = device_named(device.empty() ? "cpu" : device);
  DefaultDevice& chosen = DefaultDevice::instance();
  const std::lock_guard lock(chosen.mutex);
  chosen.device = std::move(found);
}

std::string default_device() { return default_device_handle()->name(); }

}  // namespace sinter
