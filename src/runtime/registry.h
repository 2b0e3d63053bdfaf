// The devices of this process, by name. The only singleton: a device is made when first asked for.
// Devices register a factory; src/api registers those that Sinter has.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/runtime/device.h"

namespace sinter {

using DeviceFactory = std::function<std::shared_ptr<Device>()>;

// A name that is taken keeps its factory: registering twice does no harm.
void register_device(const std::string& name, DeviceFactory factory);

// Makes it on first use; what the factory throws comes through, and the next call tries again.
// UserError naming the known devices where there is no such one.
std::shared_ptr<Device> find_device(const std::string& name);

std::vector<std::string> device_names();  // sorted

}  // namespace sinter
