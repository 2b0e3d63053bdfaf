// CopyKernel: a copy compiled by Sinter's pipeline from a one-node graph. In: a size. Out: a kernel
// to launch on given buffers.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "src/program/build.h"
#include "src/runtime/device.h"

namespace sinter::suite {

class CopyKernel {
 public:
  // `bytes` must be a multiple of 4. CompileError, DeviceError.
  CopyKernel(std::size_t bytes, const std::shared_ptr<Device>& device);

  std::size_t bytes() const { return bytes_; }
  void launch(void* from, void* to) const;

 private:
  std::size_t bytes_;
  std::shared_ptr<const Program> program_;
};

}  // namespace sinter::suite
