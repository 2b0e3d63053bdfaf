// The limit of a memory-bound kernel: a copy that moves as many bytes as the kernel must.
// In: the bytes to move, half of them read and half written. Out: a copy to be timed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "src/cpu/copy_bandwidth.h"
#include "src/runtime/device.h"

namespace sinter::suite {

enum class CopyMeans : std::uint8_t {
  plain,      // memory that the host shares: memcpy
  streaming,  // the same with stores that go past the cache
  device,     // other memory: the device's own copy
  kernel,     // the same with a kernel of Sinter's
};

struct CopyWay {
  CopyMeans means = CopyMeans::plain;
  bool parallel = false;  // on all of the host's threads
};

class CopyKernel;

// The fastest way for this size; or the one that was found the fastest before. DeviceError.
class CopyLimit {
 public:
  // `reserved` bytes of the device's memory are left to those who are timed in turns with it.
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
  std::size_t bytes_;   // to copy in one run
  std::size_t buffer_;  // of each end; smaller than bytes_ where that is far past every cache
  StoragePtr from_;
  StoragePtr to_;
  std::unique_ptr<CopyKernel> kernel_;  // null: none could be made
  CopyWay way_;
};

}  // namespace sinter::suite
