// Never destroyed: tensors in static objects may outlive other statics.
#include "src/runtime/registry.h"

#include <fmt/ranges.h>

#include <map>
#include <mutex>
#include <utility>

#include "src/base/check.h"

namespace sinter {
namespace {

struct Registered {
  DeviceFactory factory;
  std::shared_ptr<Device> device;  // null until first use
};

struct Registry {
  // Recursive: a device's factory may look up another device.
  std::recursive_mutex mutex;
  std::map<std::string, Registered> devices;

  static Registry& instance() {
    static Registry& registry = *new Registry;
    return registry;
  }
};

}  // namespace

void register_device(const std::string& name, DeviceFactory factory) {
  Registry& registry = Registry::instance();
  const std::lock_guard lock(registry.mutex);
  registry.devices.try_emplace(name, Registered{std::move(factory), nullptr});
}

std::shared_ptr<Device> find_device(const std::string& name) {
  Registry& registry = Registry::instance();
  const std::lock_guard lock(registry.mutex);
  const auto it = registry.devices.find(name);
  if (it == registry.devices.end())
    fail_user("device", "there is no device '{}', known ones are: {}", name,
              fmt::join(device_names(), ", "));
  if (!it->second.device) it->second.device = it->second.factory();
  return it->second.device;
}

std::vector<std::string> device_names() {
  Registry& registry = Registry::instance();
  const std::lock_guard lock(registry.mutex);
  std::vector<std::string> names;
  for (const auto& [name, registered] : registry.devices) names.push_back(name);
  return names;
}

}  // namespace sinter
