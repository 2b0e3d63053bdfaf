// CompiledKernel: a kernel that a device can launch.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "src/tile/interpreter.h"

namespace sinter {

struct CompileStats {
  double milliseconds = 0;  // spent until the kernel could run
  bool from_disk = false;
  bool interpreted = false;
};

class CompiledKernel {
 public:
  virtual ~CompiledKernel() = default;

  // Runs programs 0 .. grid-1. `nanoseconds` estimates how long one worker would take: long
  // launches are spread over several.
  virtual void launch(std::span<const tile::BufferBinding> buffers,
                      std::span<const std::int64_t> scalars, std::int64_t grid,
                      double nanoseconds) const = 0;

  // False if what a launch does depends on where its buffers are, so that it cannot be captured.
  virtual bool fits_launch_graph() const { return true; }

  const CompileStats& stats() const { return stats_; }
  // Memory that a launch needs besides its buffers; given as one more buffer, the last.
  std::size_t workspace_bytes() const { return workspace_bytes_; }

 protected:
  std::size_t workspace_bytes_ = 0;
  CompileStats stats_;
};
using KernelPtr = std::shared_ptr<const CompiledKernel>;

}  // namespace sinter
