// What a kernel did wrong, in words: the thread, the line of the kernel's text, and the reason.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "src/simt/cluster_thread.h"

namespace sinter {

void ClusterRun::fail(const std::string& what) {
  if (error_.empty()) error_ = what;
}

void ClusterRun::fail_if(const std::optional<SharedComplaint>& complaint) {
  if (!complaint) return;
  const std::string second = complaint->second ? who(*complaint->second) : "";
  fail(fmt::format(fmt::runtime(complaint->what), who(complaint->first), second));
}

void ClusterRun::fail_of(const ThreadState& thread, int line, const std::string& what) {
  if (!what.empty()) fail(fmt::format("{} {}", who(thread.at(line)), what));
}

void ClusterRun::refuse(ThreadState& thread, const sn::simt::Access& access, sn::simt::Fault fault,
                        int line) {
  const std::string what = fmt::format(
      "{} {} {}[{}{}]", who(thread.at(line)), access.write ? "writes" : "reads", access.buffer,
      access.index, access.count > 1 ? fmt::format(" to {}", access.index + access.count - 1) : "");
  switch (fault) {
    case sn::simt::Fault::outside:
      return fail(fmt::format("{}, which has {} elements", what, access.elements));
    case sn::simt::Fault::misaligned:
      return fail(fmt::format("{} at once, at an address that is not a multiple of {}", what,
                              access.bytes));
    case sn::simt::Fault::not_waited:
      return fail(fmt::format("{} before it waits for the previous kernel", what));
  }
}

const ClusterRun::ThreadState* ClusterRun::stray(const ThreadState& waits) const {
  int first = 0;
  int last = static_cast<int>(threads_.size());
  if (waits.state != State::cluster_barrier) {
    first = waits.rank * launch_.threads;
    last = first + launch_.threads;
  }
  if (waits.state == State::shuffle) {
    first += waits.thread / kWarpLanes * kWarpLanes;
    last = std::min(last, first + kWarpLanes);
  }
  for (int i = first; i < last; ++i) {
    const ThreadState& other = threads_[i];
    if (other.state != waits.state || other.line != waits.line) return &other;
    if (waits.state == State::shuffle && other.bytes != waits.bytes) return &other;
  }
  return nullptr;
}

// Deadlock: reports a thread that waits in vain and one it waits for. Prefers one that has ended,
// which explains most, and warp exchanges, which wait for fewer threads than barriers.
std::string ClusterRun::divergence() const {
  const ThreadState* waits = nullptr;
  const ThreadState* other = nullptr;
  for (State state : {State::shuffle, State::block_barrier, State::cluster_barrier}) {
    for (const ThreadState& thread : threads_) {
      if (thread.state != state) continue;
      const ThreadState* missing = stray(thread);
      if (!missing || (other && missing->state != State::done)) continue;
      waits = &thread;
      other = missing;
      if (other->state == State::done) return divergence_between(*waits, *other);
    }
  }
  return waits ? divergence_between(*waits, *other) : "no thread can go on";
}

std::string ClusterRun::divergence_between(const ThreadState& waits,
                                           const ThreadState& other) const {
  const auto wait_name = [](State state) {
    return state == State::shuffle           ? "for its warp's exchange"
           : state == State::block_barrier   ? "at its block's barrier"
           : state == State::cluster_barrier ? "at its cluster's barrier"
                                             : "";
  };
  const std::string does =
      other.state == State::done
          ? fmt::format("thread {} of block {} has ended", other.thread, other.block)
          : fmt::format("{} waits {}", who(other.at()), wait_name(other.state));
  return fmt::format("barrier not reached by all threads: {} waits {}, but {}", who(waits.at()),
                     wait_name(waits.state), does);
}

std::string ClusterRun::who(const SimtPlace& place) const {
  return fmt::format("thread {} of block {} ({})", place.thread, first_block_ + place.rank,
                     at_line(place.line));
}

std::string ClusterRun::at_line(int line) const {
  std::string_view rest = *launch_.text;
  for (int i = 1; i < line && !rest.empty(); ++i) {
    const std::size_t end = rest.find('\n');
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  rest = rest.substr(0, rest.find('\n'));
  const std::size_t begin = rest.find_first_not_of(' ');
  rest.remove_prefix(begin == std::string_view::npos ? rest.size() : begin);
  return fmt::format("line {}: {}", line, rest);
}

}  // namespace sinter
