// CopyKernel: a copy made the way Sinter makes its kernels, from a graph of one node.
// In: a size. Out: something to launch, with the buffers of each launch.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "src/program/build.h"
#include "src/runtime/device.h"

namespace sinter::suite {

class CopyKernel {
 public:
  // `bytes` is a multiple of 4. CompileError, DeviceError.
  CopyKernel(std::size_t bytes, const std::shared_ptr<Device>& device);

  std::size_t bytes() const { return bytes_; }
  void launch(void* from, void* to) const;

 private:
  std::size_t bytes_;
  std::shared_ptr<const Program> program_;
};

}  // namespace sinter::suite
