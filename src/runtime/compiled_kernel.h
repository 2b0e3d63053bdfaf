// CompiledKernel: a kernel that a device can launch.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "src/tile/interpreter.h"

namespace sinter {

struct CompileStats {
  double milliseconds = 0;  // until the kernel was ready to run
  bool from_disk = false;
  bool interpreted = false;
};

class CompiledKernel {
 public:
  virtual ~CompiledKernel() = default;

  // Runs programs 0 .. grid-1. `nanoseconds` estimates the time of one worker: long launches are
  // spread over several.
  virtual void launch(std::span<const tile::BufferBinding> buffers,
                      std::span<const std::int64_t> scalars, std::int64_t grid,
                      double nanoseconds) const = 0;

  // False if a launch depends on its buffers' addresses, so that it cannot be captured.
  virtual bool fits_launch_graph() const { return true; }

  const CompileStats& stats() const { return stats_; }
  // Scratch memory of a launch, passed as an additional last buffer.
  std::size_t workspace_bytes() const { return workspace_bytes_; }

 protected:
  std::size_t workspace_bytes_ = 0;
  CompileStats stats_;
};
using KernelPtr = std::shared_ptr<const CompiledKernel>;

}  // namespace sinter
