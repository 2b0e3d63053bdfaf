// The devices of this process by name, created on first use. The only singleton. Devices register a
// factory; src/api registers the built-in ones.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/runtime/device.h"

namespace sinter {

using DeviceFactory = std::function<std::shared_ptr<Device>()>;

// A name that is already registered keeps its factory.
void register_device(const std::string& name, DeviceFactory factory);

// Creates the device on first use. An exception from the factory propagates, and the next call
// retries. UserError listing the known devices if there is none of that name.
std::shared_ptr<Device> find_device(const std::string& name);

std::vector<std::string> device_names();  // sorted

}  // namespace sinter
