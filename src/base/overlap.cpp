// Two elements share a byte if a sum of strides, each taken a bounded number of times, equals a
// given distance. That is a bounded linear Diophantine equation, solved by trying the largest
// stride first, which leaves few choices for nested strides such as those of slices.
#include "src/base/overlap.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace sinter {
namespace {

constexpr int kMostTrials = 20000;

// `stride` taken 0 to `most` times.
struct Steps {
  std::int64_t stride = 0;
  std::int64_t most = 0;
};

class StepSum {
 public:
  void add(std::int64_t stride, std::int64_t most) {
    if (stride == 0 || most == 0) return;
    for (std::size_t i = 0; i < count_; ++i)
      if (steps_[i].stride == stride) {
        steps_[i].most += most;
        return;
      }
    steps_[count_++] = {stride, most};
  }

  // Whether the steps can sum to `distance`; also true if the search takes too long.
  bool can_reach(std::int64_t distance) {
    std::sort(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(count_),
              [](const Steps& a, const Steps& b) { return a.stride > b.stride; });
    std::int64_t divisor = 0;
    std::int64_t reach = 0;
    for (std::size_t i = count_; i-- > 0;) {
      divisors_[i] = divisor = std::gcd(divisor, steps_[i].stride);
      reaches_[i] = reach += steps_[i].stride * steps_[i].most;
    }
    trials_ = 0;
    return can_reach(distance, 0);
  }

 private:
  bool can_reach(std::int64_t distance, std::size_t first) {
    if (++trials_ > kMostTrials) return true;
    if (distance == 0) return true;
    if (distance < 0 || first == count_ || distance > reaches_[first] ||
        distance % divisors_[first] != 0)
      return false;
    const Steps& steps = steps_[first];
    const std::int64_t rest = first + 1 < count_ ? reaches_[first + 1] : 0;
    const std::int64_t least =
        distance > rest ? (distance - rest + steps.stride - 1) / steps.stride : 0;
    for (std::int64_t n = std::min(steps.most, distance / steps.stride); n >= least; --n)
      if (can_reach(distance - n * steps.stride, first + 1)) return true;
    return false;
  }

  static constexpr std::size_t kMostSteps = 2 * kMaxRank + 1;
  std::array<Steps, kMostSteps> steps_;
  std::array<std::int64_t, kMostSteps> divisors_{};  // common divisor of strides i, i + 1, ..
  std::array<std::int64_t, kMostSteps> reaches_{};   // largest sum of the same steps
  std::size_t count_ = 0;
  int trials_ = 0;
};

std::int64_t bytes_spanned(const StridedMemory& memory) {
  std::int64_t elements = 1;
  for (int i = 0; i < memory.view->shape.rank(); ++i)
    elements += (memory.view->shape[i] - 1) * memory.view->strides[i];
  return elements * static_cast<std::int64_t>(memory.element_bytes);
}

}  // namespace

bool overlap(const StridedMemory& a, const StridedMemory& b) {
  if (a.view->shape.numel() == 0 || b.view->shape.numel() == 0) return false;
  const auto start_a = reinterpret_cast<std::intptr_t>(a.first);
  const auto start_b = reinterpret_cast<std::intptr_t>(b.first);
  const std::int64_t span_a = bytes_spanned(a);
  const std::int64_t span_b = bytes_spanned(b);
  if (start_a + span_a <= start_b || start_b + span_b <= start_a) return false;
  // A shared byte: start_a + steps of a = start_b + steps of b. The steps of b are counted from its
  // end, so that all are added.
  StepSum sum;
  for (const StridedMemory* memory : {&a, &b}) {
    const auto bytes = static_cast<std::int64_t>(memory->element_bytes);
    for (int i = 0; i < memory->view->shape.rank(); ++i)
      sum.add(memory->view->strides[i] * bytes, memory->view->shape[i] - 1);
    sum.add(1, bytes - 1);
  }
  return sum.can_reach(start_b - start_a + span_b - 1);
}

void for_each_overlap(std::span<const StridedMemory> regions,
                      const std::function<bool(std::size_t, std::size_t)>& wanted,
                      const std::function<void(std::size_t, std::size_t)>& visit) {
  struct Bytes {
    std::intptr_t first;
    std::intptr_t end;
    std::size_t region;
  };
  // Kept between calls so that a warm call does not allocate.
  thread_local std::vector<Bytes> sorted;
  thread_local std::vector<Bytes> open;  // began earlier and may not have ended
  sorted.clear();
  open.clear();
  for (std::size_t i = 0; i < regions.size(); ++i) {
    if (regions[i].view->shape.numel() == 0) continue;
    const auto first = reinterpret_cast<std::intptr_t>(regions[i].first);
    sorted.push_back({first, first + bytes_spanned(regions[i]), i});
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const Bytes& a, const Bytes& b) { return a.first < b.first; });
  for (const Bytes& bytes : sorted) {
    std::erase_if(open, [&](const Bytes& each) { return each.end <= bytes.first; });
    for (const Bytes& each : open) {
      const auto [i, k] = std::minmax(each.region, bytes.region);
      if (wanted(i, k) && overlap(regions[i], regions[k])) visit(i, k);
    }
    open.push_back(bytes);
  }
}

bool overlaps_itself(const View& view) {
  if (is_dense(view) || view.shape.numel() <= 1) return false;
  // Two elements that differ first along axis i and are at the same address.
  for (int i = 0; i < view.shape.rank(); ++i) {
    if (view.shape[i] == 1) continue;
    if (view.strides[i] == 0) return true;
    StepSum sum;
    std::int64_t distance = -view.strides[i];
    sum.add(view.strides[i], view.shape[i] - 2);
    for (int k = i + 1; k < view.shape.rank(); ++k) {
      sum.add(view.strides[k], 2 * (view.shape[k] - 1));
      distance += view.strides[k] * (view.shape[k] - 1);
    }
    if (distance >= 0 && sum.can_reach(distance)) return true;
  }
  return false;
}

}  // namespace sinter
