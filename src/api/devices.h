// Sinter's devices for its own use: all of them made known to the registry, then found by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/runtime/device.h"

namespace sinter {

// The names there can be, whether this machine has the devices or not. Starts none of them.
std::vector<std::string> known_device_names();

// Made on first use: DeviceError where this machine cannot, UserError for an unknown name. An empty
// name is the default device's.
std::shared_ptr<Device> open_device(const std::string& name);

// The device that new tensors go to.
std::shared_ptr<Device> default_device_handle();

}  // namespace sinter
