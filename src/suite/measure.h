// One case at one shape and type: all of a row's numbers, for each provider.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/cpu/thread_pool.h"
#include "src/runtime/device.h"
#include "src/suite/case.h"
#include "src/suite/results.h"

namespace sinter::suite {

struct Measurement {
  const Case& each;
  Shape2 shape;
  DType dtype = DType::f32;
  std::vector<std::string> providers;
  double seconds = 0;
};

struct Measured {
  std::vector<ResultRow> rows;   // one a provider
  std::optional<PlanInfo> plan;  // of "fused", if that was compiled
};

// Errors, and that it does not fit into memory, are in the rows, not thrown.
Measured measure(const Measurement& what, Device& device, ThreadPool& threads);

// A later visit: times Sinter's own rows of that measurement, if all could be, once more.
void time_again(const Measurement& what, Device& device, ThreadPool& threads,
                std::span<ResultRow> rows);

}  // namespace sinter::suite
