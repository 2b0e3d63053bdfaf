// What this machine has for Sinter to run on, and the memory it holds.
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
