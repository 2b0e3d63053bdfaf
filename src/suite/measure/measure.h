// Measures one workload: one row per provider.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/cpu/thread_pool.h"
#include "src/runtime/device.h"
#include "src/suite/measure/copy_limit.h"
#include "src/suite/measure/workload.h"
#include "src/suite/results/results.h"

namespace sinter::suite {

struct Measurement {
  WorkloadPtr workload;
  std::vector<std::string> providers;
  double seconds = 0;
};

// A provider's row before anything is measured.
ResultRow empty_row(const Measurement& what, const std::string& provider, const Device& device);

struct Measured {
  std::vector<ResultRow> rows;   // one per provider
  std::optional<PlanInfo> plan;  // of "fused", if it was compiled
  std::optional<CopyWay> limit_way;
};

// The device, threads and stopwatch that measurements share.
class Workbench {
 public:
  Workbench(std::shared_ptr<Device> device, int threads)
      : device_(std::move(device)), threads_(threads) {}

  const std::shared_ptr<Device>& device() const { return device_; }
  ThreadPool& threads() { return threads_; }  // host threads for inputs and references
  Stopwatch& stopwatch();                     // created on first use

 private:
  std::shared_ptr<Device> device_;
  ThreadPool threads_;
  std::unique_ptr<Stopwatch> stopwatch_;
};

// Errors and lack of memory are reported in the rows, not thrown.
Measured measure(const Measurement& what, Workbench& bench);

// A later visit: times Sinter's own rows of that measurement again, where they could be timed.
void time_again(const Measurement& what, Workbench& bench, std::span<ResultRow> rows,
                std::optional<CopyWay> limit_way);

}  // namespace sinter::suite
