// Tries each way of copying on the size at hand and keeps the fastest.
#include "src/suite/copy_limit.h"

#include <sinter/bench.h>

#include <algorithm>
#include <array>
#include <functional>
#include <span>

namespace sinter::suite {
namespace {

// Copies of more than this go over the same memory again: it has left the caches by then.
constexpr std::size_t kLargestBuffer = std::size_t{512} << 20;
constexpr std::size_t kWorthOneThread = std::size_t{8} << 20;

}  // namespace

CopyLimit::CopyLimit(std::int64_t bytes_moved, Device& device, ThreadPool& threads,
                     std::optional<CopyWay> way)
    : threads_(threads),
      bytes_(std::max(static_cast<std::size_t>(bytes_moved) / 2, std::size_t{1})),
      buffer_(std::min(bytes_, kLargestBuffer)),
      from_(device.allocate(buffer_)),
      to_(device.allocate(buffer_)) {
  // Pages that were never written are all the same page of zeros. Those who will copy write them
  // first: a page lies near the core that does.
  parallel_copy(threads_, CopyKind::plain, from_->data(), to_->data(), buffer_);
  parallel_copy(threads_, CopyKind::plain, to_->data(), from_->data(), buffer_);
  if (way)
    way_ = *way;
  else
    choose();
}

void CopyLimit::run() const {
  for (std::size_t done = 0; done < bytes_; done += buffer_) {
    const std::size_t part = std::min(buffer_, bytes_ - done);
    if (way_.parallel)
      parallel_copy(threads_, way_.kind, from_->data(), to_->data(), part);
    else
      copy_here(way_.kind, from_->data(), to_->data(), part);
  }
}

void CopyLimit::choose() {
  constexpr std::array<CopyWay, 4> kWays{
      CopyWay{CopyKind::plain, false}, CopyWay{CopyKind::streaming, false},
      CopyWay{CopyKind::plain, true}, CopyWay{CopyKind::streaming, true}};
  const std::span ways = bytes_ > kWorthOneThread ? std::span(kWays).subspan(2) : std::span(kWays);
  std::vector<std::function<void()>> runs;
  for (const CopyWay& way : ways)
    runs.emplace_back([this, &way] {
      way_ = way;
      run();
    });
  const std::vector<BenchResult> timings =
      bench_in_turns(runs, {.seconds = 0.01, .min_samples = 3});
  std::size_t best = 0;
  for (std::size_t i = 1; i < timings.size(); ++i)
    if (timings[i].p20_us < timings[best].p20_us) best = i;
  way_ = ways[best];
}

}  // namespace sinter::suite
