// One case at one shape and type: all of a row's numbers, for each provider.
#pragma once

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

// One row a provider. Errors are in the rows, not thrown.
std::vector<ResultRow> measure(const Measurement& what, Device& device, ThreadPool& threads);

}  // namespace sinter::suite
