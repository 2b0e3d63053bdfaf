// One case at one shape and type: all of a row's numbers, for each provider.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/cpu/thread_pool.h"
#include "src/runtime/device.h"
#include "src/suite/case.h"
#include "src/suite/copy_limit.h"
#include "src/suite/results.h"

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

// `threads` are the host's: they make inputs and the reference. Errors, and that it does not fit
// into memory, are in the rows, not thrown.
Measured measure(const Measurement& what, const std::shared_ptr<Device>& device,
                 ThreadPool& threads);

// A later visit: times those of Sinter's own rows of that measurement once more that could be
// timed.
void time_again(const Measurement& what, const std::shared_ptr<Device>& device, ThreadPool& threads,
                std::span<ResultRow> rows, std::optional<CopyWay> limit_way);

}  // namespace sinter::suite
