// Tries each copy method on the given size and keeps the fastest.
#include "src/suite/measure/copy_limit.h"

#include <sinter/error.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "src/base/rounding.h"
#include "src/profile/bench_stopwatch.h"
#include "src/suite/cases/normal.h"
#include "src/suite/measure/copy_kernel.h"

namespace sinter::suite {
namespace {

// Larger copies reuse the same memory, which has left the caches by then. A device with its own
// memory does so only if the whole does not fit.
constexpr std::size_t kLargestBuffer = std::size_t{512} << 20;
constexpr std::size_t kWorthOneThread = std::size_t{8} << 20;
constexpr std::size_t kGranule = 16;

// Rounded to whole granules; the difference for a row of odd length is less than a cache line.
std::size_t granules(std::size_t bytes) {
  return round_up(std::max(bytes, std::size_t{1}), kGranule);
}

std::size_t buffer_size(std::size_t bytes, const Device& device, std::int64_t reserved) {
  if (!device.shares_host_memory() &&
      2 * bytes + static_cast<std::size_t>(reserved) <= device.available_memory())
    return bytes;
  return std::min(bytes, kLargestBuffer);
}

std::vector<CopyWay> ways_for(const Device& device, std::size_t bytes, bool has_kernel) {
  std::vector<CopyWay> ways;
  if (device.shares_host_memory()) {
    for (const bool parallel : {false, true})
      for (const CopyMeans means : {CopyMeans::plain, CopyMeans::streaming})
        if (parallel || bytes <= kWorthOneThread) ways.push_back({means, parallel});
    return ways;
  }
  ways.push_back({CopyMeans::device});
  if (has_kernel) ways.push_back({CopyMeans::kernel});
  return ways;
}

// If the kernel cannot be built, other methods still give a limit.
std::unique_ptr<CopyKernel> make_kernel(std::size_t bytes, const std::shared_ptr<Device>& device) {
  try {
    return std::make_unique<CopyKernel>(bytes, device);
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace

CopyLimit::CopyLimit(std::int64_t bytes_moved, const std::shared_ptr<Device>& device,
                     ThreadPool& threads, Stopwatch& stopwatch, std::int64_t reserved,
                     std::optional<CopyWay> way)
    : device_(*device),
      threads_(threads),
      bytes_(granules(static_cast<std::size_t>(bytes_moved) / 2)),
      buffer_(buffer_size(bytes_, *device, reserved)),
      from_(device->allocate(buffer_)),
      to_(device->allocate(buffer_)) {
  fill();
  if (!device->shares_host_memory()) kernel_ = make_kernel(buffer_, device);
  if (way)
    way_ = *way;
  else
    choose(stopwatch);
}

CopyLimit::~CopyLimit() = default;

void CopyLimit::fill() {
  if (device_.shares_host_memory()) {
    // Pages that were never written all map to one zero page. The copying threads write them first,
    // so that they are allocated near their cores.
    parallel_copy(threads_, CopyKind::plain, from_->data(), to_->data(), buffer_);
    parallel_copy(threads_, CopyKind::plain, to_->data(), from_->data(), buffer_);
    return;
  }
  // Values like those of the inputs: memory power, and with it speed, depends on the bits.
  constexpr std::size_t kMade = std::size_t{1} << 20;
  std::vector<float> numbers(std::min(buffer_, kMade) / sizeof(float));
  fill_normal(seed_of("copy"), 0, numbers);
  std::size_t filled = numbers.size() * sizeof(float);
  auto* data = static_cast<std::byte*>(from_->data());
  device_.copy_from_host(data, numbers.data(), filled);
  while (filled < buffer_) {
    const std::size_t more = std::min(filled, buffer_ - filled);
    device_.copy(data + filled, data, more);
    filled += more;
  }
}

void CopyLimit::run_part(std::size_t bytes) const {
  const CopyKind kind = way_.means == CopyMeans::streaming ? CopyKind::streaming : CopyKind::plain;
  // The kernel covers exactly one buffer; the rest of a longer copy uses the other method.
  if (way_.means == CopyMeans::kernel && kernel_ && bytes == buffer_)
    kernel_->launch(from_->data(), to_->data());
  else if (!device_.shares_host_memory())
    device_.copy(to_->data(), from_->data(), bytes);
  else if (way_.parallel)
    parallel_copy(threads_, kind, from_->data(), to_->data(), bytes);
  else
    copy_here(kind, from_->data(), to_->data(), bytes);
}

void CopyLimit::run() const {
  for (std::size_t done = 0; done < bytes_; done += buffer_)
    run_part(std::min(buffer_, bytes_ - done));
}

void CopyLimit::choose(Stopwatch& stopwatch) {
  const std::vector<CopyWay> ways = ways_for(device_, bytes_, kernel_ != nullptr);
  std::vector<std::function<void()>> runs;
  for (const CopyWay& way : ways)
    runs.emplace_back([this, &way] {
      way_ = way;
      run();
    });
  const std::vector<BenchResult> timings =
      bench_in_turns(runs, {.seconds = 0.01, .min_samples = 3}, stopwatch);
  std::size_t best = 0;
  for (std::size_t i = 1; i < timings.size(); ++i)
    if (timings[i].p20_us < timings[best].p20_us) best = i;
  way_ = ways[best];
}

}  // namespace sinter::suite
