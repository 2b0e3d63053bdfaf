// The limit for memory-bound kernels: a copy of as many bytes as the kernel must move. In: the
// bytes to move, half read and half written. Out: a copy to be timed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "src/cpu/copy_bandwidth.h"
#include "src/runtime/device.h"

namespace sinter::suite {

enum class CopyMeans : std::uint8_t {
  plain,      // host-shared memory: memcpy
  streaming,  // the same with non-temporal stores
  device,     // other memory: the device's copy
  kernel,     // the same with a kernel compiled by Sinter
};

struct CopyWay {
  CopyMeans means = CopyMeans::plain;
  bool parallel = false;  // on all host threads
};

class CopyKernel;

// The fastest method for this size, or one found earlier. DeviceError.
class CopyLimit {
 public:
  // Leaves `reserved` bytes of device memory to the programs timed in turns with it.
  CopyLimit(std::int64_t bytes_moved, const std::shared_ptr<Device>& device, ThreadPool& threads,
            Stopwatch& stopwatch, std::int64_t reserved = 0,
            std::optional<CopyWay> way = std::nullopt);
  ~CopyLimit();

  void run() const;

  const CopyWay& way() const { return way_; }
  std::size_t buffer_bytes() const { return buffer_; }
  const StoragePtr& source() const { return from_; }
  const StoragePtr& target() const { return to_; }

 private:
  void fill();
  void choose(Stopwatch& stopwatch);
  void run_part(std::size_t bytes) const;

  Device& device_;
  ThreadPool& threads_;
  std::size_t bytes_;  // bytes copied per run
  // Size of each buffer; smaller than bytes_ if that far exceeds every cache.
  std::size_t buffer_;
  StoragePtr from_;
  StoragePtr to_;
  std::unique_ptr<CopyKernel> kernel_;  // null if it could not be built
  CopyWay way_;
};

}  // namespace sinter::suite
