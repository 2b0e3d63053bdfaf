// All environment variables that Sinter reads. In: the environment. Out: Options, or a UserError
// that names the variable.
#pragma once

#include <cstdint>
#include <string>

namespace sinter {

// Value of `cxx` that disables the compiler: kernels that are not cached are interpreted.
inline constexpr char kNoCompiler[] = "none";

struct Options {
  // SINTER_CACHE_DIR: where compiled kernels are kept between runs. Default:
  // $XDG_CACHE_HOME/sinter, else ~/.cache/sinter. Empty if neither is known; then nothing is kept.
  std::string cache_dir;
  // SINTER_CACHE_LIMIT_MIB: size limit of the kernel cache in MiB; least recently used kernels are
  // evicted. 0: no limit.
  std::uint64_t cache_limit_bytes = std::uint64_t{1} << 30;
  // SINTER_NUM_THREADS: threads of the CPU device, including the calling thread. 0: as many as the
  // affinity mask and the cgroup allow.
  int num_threads = 0;
  // SINTER_CXX: the host compiler, a path or a name in PATH; "none" for no compiler: cached kernels
  // run, others are interpreted. Empty: the first of c++, g++, clang++ that is found.
  std::string cxx;
  // SINTER_VECTOR_BYTES: width of the vectors in CPU kernels: 16 (SSE), 32 (AVX2) or 64 (AVX-512).
  // Kernels then use no wider instructions. 0: the machine's.
  int vector_bytes = 0;
  // SINTER_DEVICE: the initial default device. Empty: the CPU.
  std::string device;
  // SINTER_TUNING_FILE: absolute path of the tuning file. Empty: tuning.json in the cache
  // directory.
  std::string tuning_file;
  // SINTER_PYTHON: the Python that runs the suite's peers, a path or a name in PATH.
  std::string python = "python3";
  // SINTER_SIMT_SOURCES: a directory where the simt device writes kernel sources, for debuggers.
  // Empty: not written.
  std::string simt_sources;
};

inline constexpr int kMaxThreads = 1024;
inline constexpr std::int64_t kMaxCacheMib = std::int64_t{1} << 40;  // its bytes fit 64 bits

// Reads each variable with `get`, which behaves like std::getenv.
Options read_options(const char* (*get)(const char* name));

// This process's options, read on first use.
const Options& environment_options();

}  // namespace sinter
