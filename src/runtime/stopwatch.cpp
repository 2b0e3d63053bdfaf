// The CPU's stopwatch: wall time around blocking calls.
#include "src/runtime/stopwatch.h"

#include <chrono>

namespace sinter {
namespace {

using Clock = std::chrono::steady_clock;

class WallStopwatch : public Stopwatch {
 public:
  double time(const std::function<void()>& run, int calls) override {
    const auto start = Clock::now();
    for (int i = 0; i < calls; ++i) run();
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count() / calls;
  }
  void wait() override {}
  bool resolves_single_calls() const override { return false; }
};

}  // namespace

std::unique_ptr<Stopwatch> wall_stopwatch() { return std::make_unique<WallStopwatch>(); }

}  // namespace sinter
