// Devices by the names that users write, and the one that new tensors go to.
// In: "cpu", "cuda", "cuda:1", ... or nothing. Out: a Device; UserError, DeviceError.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/runtime/device.h"

namespace sinter {

// Makes all devices known to the registry; starts none of them.
void register_devices();

// The names that there can be, whether this machine has the devices or not; of GPUs as many as
// there are. Starts none of them.
std::vector<std::string> known_device_names();

// Empty: default_device_handle(). UserError naming the known devices where there is no such one;
// DeviceError saying what is missing where it cannot be used.
std::shared_ptr<Device> device_named(const std::string& name);

// The device that new tensors go to.
std::shared_ptr<Device> default_device_handle();

}  // namespace sinter
