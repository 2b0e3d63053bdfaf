// Hand-written kernels for the simt device, with the headers of a rendered kernel. In: a body. Out:
// a compiled kernel, launched on vectors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/check.h"
#include "src/codegen/kernel_headers.h"
#include "src/simt/simt_device.h"

namespace sinter::simt_test {

inline SimtDevice& device() {
  static SimtDevice& device = *new SimtDevice(simt_device_options(environment_options()));
  return device;
}

struct KernelText {
  std::string body;  // the text inside the kernel's braces
  int words = 0;     // buffers, scalars, the number of programs
  int threads = 32;
  int cluster = 1;
  bool aligned = true;
};

inline KernelSource source_of(const KernelText& kernel) {
  KernelSource source;
  source.entry = "sinter_test";
  source.words = kernel.words;
  source.mapping.threads = kernel.threads;
  source.mapping.cluster = kernel.cluster;
  source.name = "test";
  source.prologue = fmt::format(
      "#define SN_SIMT 1\n#define SN_THREADS {}\n#define SN_CLUSTER {}\n#define SN_WIDE_INDEX 1\n"
      "#define SN_ALIGNED {}\n",
      kernel.threads, kernel.cluster, kernel.aligned ? 1 : 0);
  for (const char* name : {"cuda/types.cuh", "simt/primitives.h", "cuda/math.cuh",
                           "cuda/memory.cuh", "cuda/reduce.cuh"})
    source.headers.push_back(kernel_header(name));
  source.body = fmt::format(
      "namespace sn {{\nSN_REDUCTION(Sum, a + b)\nSN_KERNEL(sinter_test, {}) {{\n{}\n}}\n}}\n",
      kernel.words, kernel.body);
  return source;
}

template <typename T>
tile::BufferBinding bound(std::vector<T>& values) {
  return {values.data(), static_cast<std::int64_t>(values.size())};
}

inline void launch(const KernelText& kernel, const std::vector<tile::BufferBinding>& buffers,
                   const std::vector<std::int64_t>& scalars, std::int64_t grid) {
  device().compile_text(source_of(kernel))->launch(buffers, scalars, grid, 0);
}

// The message of the InternalError that a launch throws; empty if it throws none.
inline std::string error_of(const KernelText& kernel,
                            const std::vector<tile::BufferBinding>& buffers,
                            const std::vector<std::int64_t>& scalars, std::int64_t grid) {
  try {
    launch(kernel, buffers, scalars, grid);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "";
}

}  // namespace sinter::simt_test
