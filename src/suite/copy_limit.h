// The limit of a memory-bound kernel: a copy that moves as many bytes as the kernel must.
// In: the bytes to move, half of them read and half written. Out: a copy to be timed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "src/cpu/copy_bandwidth.h"
#include "src/runtime/device.h"

namespace sinter::suite {

struct CopyWay {
  CopyKind kind = CopyKind::plain;
  bool parallel = false;
};

// The fastest of plain and non-temporal stores, on one thread and on all, for this size; or the one
// that was found the fastest before. DeviceError.
class CopyLimit {
 public:
  CopyLimit(std::int64_t bytes_moved, Device& device, ThreadPool& threads,
            std::optional<CopyWay> way = std::nullopt);

  void run() const;

  const CopyWay& way() const { return way_; }

 private:
  void choose();

  ThreadPool& threads_;
  std::size_t bytes_;   // to copy in one run
  std::size_t buffer_;  // of each end; smaller than bytes_ where that is far past every cache
  StoragePtr from_;
  StoragePtr to_;
  CopyWay way_;
};

}  // namespace sinter::suite
