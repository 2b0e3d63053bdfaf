// Everything Sinter reads from the environment, in one place.
// In: environment variables. Out: Options, or a UserError that names the variable.
#pragma once

#include <cstdint>
#include <string>

namespace sinter {

// `cxx` with this value: pretend there is no compiler, interpret kernels that are not in the cache.
inline constexpr char kNoCompiler[] = "none";

struct Options {
  // SINTER_CACHE_DIR: where compiled kernels are kept between runs. Default:
  // $XDG_CACHE_HOME/sinter, else ~/.cache/sinter; empty where neither is known, then nothing is
  // kept.
  std::string cache_dir;
  // SINTER_CACHE_LIMIT_MIB: what the kernels there may take, in MiB; the least recently used ones
  // go first. 0: no limit.
  std::uint64_t cache_limit_bytes = std::uint64_t{1} << 30;
  // SINTER_NUM_THREADS: workers of the CPU device, the calling thread included. 0: what the
  // affinity mask and the cgroup allow.
  int num_threads = 0;
  // SINTER_CXX: the host compiler, a path or a name to look up in PATH; "none" for no compiler:
  // what is in the cache runs, everything else is interpreted. Empty: c++, g++, clang++, whichever
  // is found first.
  std::string cxx;
  // SINTER_DEVICE: where new tensors go, as set_default_device() takes it. Empty: the CPU.
  std::string device;
  // SINTER_TUNING_FILE: what was tuned, an absolute path. Empty: tuning.json in the cache's
  // directory.
  std::string tuning_file;
  // SINTER_PYTHON: the Python that has the suite's peers, a path or a name to look up in PATH.
  std::string python = "python3";
  // SINTER_SIMT_SOURCES: a directory for the texts of the kernels that the simt device compiles, so
  // that a debugger finds them. Empty: they are not written.
  std::string simt_sources;
};

inline constexpr int kMaxThreads = 1024;
inline constexpr std::int64_t kMaxCacheMib = std::int64_t{1} << 40;  // its bytes fit 64 bits

// Reads with `get`, which answers like std::getenv.
Options read_options(const char* (*get)(const char* name));

// The process's own, read when first asked for.
const Options& environment_options();

}  // namespace sinter
