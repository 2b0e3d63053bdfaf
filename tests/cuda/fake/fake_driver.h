// What a test sees of the fake driver: what it shall do, what it was asked for, what is still open.
// The library's symbol fake_cuda_state gives the one FakeCuda it works on.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace sinter {

struct FakeCuda {
  // What it shall do.
  int version = 12040;
  int devices = 2;
  int l2_bytes = 50 << 20;
  std::string hidden;        // cuGetProcAddress does not know this name
  std::string failing_call;  // gives failing_code instead of doing anything
  int failing_code = 0;
  int failing_from = 1;  // the first of its calls that fails

  // What it was asked for.
  std::map<std::string, int> calls;
  std::vector<std::string> stream_log;  // "flush", "record 1", and what tests add
  std::vector<void*> streams;           // of each entry the driver made
  std::set<int> asked_versions;         // by cuGetProcAddress
  std::set<unsigned long long> asked_flags;
  std::vector<std::size_t> memset_bytes;

  // A clock that only work on a stream moves.
  double now_us = 0;

  // What is open.
  std::map<void*, double> events;  // to when they were recorded; -1: not yet
  std::map<unsigned long long, std::size_t> allocations;
  int primary_holds = 0;
  void* current = nullptr;

  // Two contexts of device 0.
  void* primary = &primary_holds;
  void* created = &now_us;
};

inline constexpr double kFakeFlushUs = 1000;

}  // namespace sinter
