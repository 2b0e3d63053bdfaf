// What this machine has for Sinter to run on, which of it is used, and the memory it holds.
// Names: "cpu"; "cuda" (the first GPU), "cuda:1", ...; "simt", which runs the kernels of a GPU on
// the CPU, one fiber a thread, and checks every access: for finding errors in them, not for speed
// (docs/DEBUGGING_KERNELS.md). What is missing is a DeviceError that says so.
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

// Where new tensors go unless their maker says otherwise. At first $SINTER_DEVICE, else "cpu".
// A program runs where its inputs are.
void set_default_device(const std::string& device);
std::string default_device();

// Returns when all that this thread has given to the device is done.
void synchronize(const std::string& device);

struct DeviceMemory {
  std::size_t in_use = 0;
  std::size_t peak = 0;
  std::size_t cached = 0;
};
DeviceMemory device_memory(const std::string& device = "cpu");
void reset_peak_memory(const std::string& device = "cpu");
// Gives memory that no tensor uses back to the system.
void release_cached_memory(const std::string& device = "cpu");

}  // namespace sinter
