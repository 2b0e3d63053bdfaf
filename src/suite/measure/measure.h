// One case at one shape and type: all of a row's numbers, for each provider.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/cpu/thread_pool.h"
#include "src/runtime/device.h"
#include "src/suite/cases/case.h"
#include "src/suite/measure/copy_limit.h"
#include "src/suite/results/results.h"

namespace sinter::suite {

struct Measurement {
  const Case& each;
  Shape2 shape;
  DType dtype = DType::f32;
  std::vector<std::string> providers;
  double seconds = 0;
};

// A provider's row before anything is measured.
ResultRow empty_row(const Measurement& what, const std::string& provider, const Device& device);

struct Measured {
  std::vector<ResultRow> rows;   // one a provider
  std::optional<PlanInfo> plan;  // of "fused", if that was compiled
  std::optional<CopyWay> limit_way;
};

// Where measurements are made, one after the other.
class Workbench {
 public:
  Workbench(std::shared_ptr<Device> device, int threads)
      : device_(std::move(device)), threads_(threads) {}

  const std::shared_ptr<Device>& device() const { return device_; }
  ThreadPool& threads() { return threads_; }  // the host's: they make inputs and the reference
  Stopwatch& stopwatch();                     // made when it is first needed, and kept

 private:
  std::shared_ptr<Device> device_;
  ThreadPool threads_;
  std::unique_ptr<Stopwatch> stopwatch_;
};

// Errors, and that it does not fit into memory, are in the rows, not thrown.
Measured measure(const Measurement& what, Workbench& bench);

// A later visit: times those of Sinter's own rows of that measurement once more that could be
// timed.
void time_again(const Measurement& what, Workbench& bench, std::span<ResultRow> rows,
                std::optional<CopyWay> limit_way);

}  // namespace sinter::suite
