// Internal access to the devices: registers all of them and finds them by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/runtime/device.h"

namespace sinter {

// All possible names, whether or not this machine has the devices. Does not initialize them.
std::vector<std::string> known_device_names();

// Creates the device on first use. DeviceError if this machine cannot, UserError for an unknown
// name. An empty name means the default device.
std::shared_ptr<Device> open_device(const std::string& name);

// The default device.
std::shared_ptr<Device> default_device_handle();

}  // namespace sinter
