// The devices of this machine, the default device, and device memory. Names: "cpu"; "cuda" (the
// first GPU), "cuda:1", ...; "simt", which runs GPU kernels on the CPU, one fiber per thread, and
// checks every access: for debugging kernels, not for speed (docs/DEBUGGING_KERNELS.md). Using a
// device that is missing throws a DeviceError.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sinter {

struct DeviceInfo {
  std::string name;         // "cpu"
  std::string description;  // "2 threads, AVX-512, g++ 12.2"
  bool available = false;
  std::string note;  // what is missing and what that costs; empty if nothing is
};
std::vector<DeviceInfo> devices();

// The device for new tensors when none is given. Initially $SINTER_DEVICE, else "cpu". A program
// runs on the device of its inputs.
void set_default_device(const std::string& device);
std::string default_device();

// Blocks until all work this thread has submitted to the device is done.
void synchronize(const std::string& device);

struct DeviceMemory {
  std::size_t in_use = 0;
  std::size_t peak = 0;
  std::size_t cached = 0;
};
DeviceMemory device_memory(const std::string& device = "cpu");
void reset_peak_memory(const std::string& device = "cpu");
// Returns unused pool memory to the system.
void release_cached_memory(const std::string& device = "cpu");

}  // namespace sinter
