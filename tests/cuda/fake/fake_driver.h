// A test's view of the fake driver: its script, its records and its open objects. The library's
// symbol fake_cuda_state returns the FakeCuda it uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace sinter {

// A launch, direct or as a node of a graph.
struct FakeLaunch {
  std::string function;  // the entry's name
  std::string image;     // of its module
  unsigned blocks = 0;
  unsigned threads = 0;
  unsigned cluster = 0;  // 0: not given
  unsigned shared_bytes = 0;
  bool programmatic = false;
  void* stream = nullptr;
  std::vector<std::uint64_t> words;  // FakeCuda::argument_words of them
};

struct FakeFunction {
  std::string name;
  std::string image;
  std::map<int, int> attributes;
};

struct FakeCuda {
  // The script.
  int version = 12040;
  int devices = 2;
  int l2_bytes = 50 << 20;
  std::string hidden;        // cuGetProcAddress does not know this name
  std::string failing_call;  // gives failing_code instead of doing anything
  int failing_code = 0;
  int failing_from = 1;  // the first of its calls that fails
  int compute_major = 9;
  std::size_t memory_bytes = std::size_t{140} << 30;  // more is CUDA_ERROR_OUT_OF_MEMORY
  std::size_t argument_words = 0;                     // of every kernel
  bool events_pass = true;                            // cuEventQuery's answer
  bool captures_programmatic = true;
  std::function<void(const std::string& call)> on_call;  // at the beginning of each

  // The records.
  std::map<std::string, int> calls;
  std::vector<std::string> stream_log;  // "flush", "record 1", and what tests add
  std::vector<void*> streams;           // of each entry the driver made
  std::set<int> asked_versions;         // by cuGetProcAddress
  std::set<unsigned long long> asked_flags;
  std::vector<std::size_t> memset_bytes;
  std::vector<FakeLaunch> launches;     // not the captured ones
  std::vector<FakeLaunch> graph_nodes;  // of all graphs, as they are now
  std::vector<std::size_t> nodes_set;   // by cuGraphExecKernelNodeSetParams
  std::vector<void*> graph_launches;    // their streams

  // A clock that only work on a stream moves.
  double now_us = 0;

  // Open objects.
  std::map<void*, double> events;                         // to when they were recorded; -1: not yet
  std::map<unsigned long long, std::size_t> allocations;  // of the host's memory
  std::map<void*, FakeFunction*> modules;                 // each has one function
  std::set<void*> graphs;                                 // and their executable forms
  void* capturing = nullptr;                              // the stream
  int primary_holds = 0;
  void* current = nullptr;

  // Two contexts of device 0.
  void* primary = &primary_holds;
  void* created = &now_us;
};

inline constexpr double kFakeFlushUs = 1000;
inline constexpr double kFakeCopyBytesPerUs = 2e6;  // 4 TB/s, read and written

}  // namespace sinter
