// Copies complete group by group; an mbarrier's phase ends when all blocks have stored their bytes.
#include "src/simt/arrivals.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace sinter {

void SimtAsyncCopies::add(void* array, std::int64_t index, const void* from, int line) {
  Copy copy{array, index, line, groups_, {}};
  std::memcpy(copy.bytes.data(), from, kBytes);
  in_flight_.push_back(copy);
}

std::vector<SimtAsyncCopies::Copy> SimtAsyncCopies::complete(int left) {
  std::vector<Copy> due;
  while (!in_flight_.empty() &&
         in_flight_.front().group + static_cast<std::uint32_t>(left) < groups_) {
    due.push_back(in_flight_.front());
    in_flight_.pop_front();
  }
  return due;
}

void SimtAsyncCopies::clear() {
  in_flight_.clear();
  groups_ = 0;
}

void SimtMbarriers::begin() {
  for (ById<int, Mbarrier>& mbarriers : blocks_) mbarriers.clear();
}

SimtMbarriers::Mbarrier& SimtMbarriers::find(int rank, int index) {
  ById<int, Mbarrier>& mbarriers = blocks_[rank];
  while (!mbarriers.contains(index)) mbarriers.push_back({});
  return mbarriers[index];
}

std::string SimtMbarriers::expect(int rank, int index, int bytes) {
  Mbarrier& here = find(rank, index);
  if (here.expected >= 0)
    return fmt::format("expects bytes at exchange barrier {} again, before it has ended", index);
  here.expected = bytes;
  return "";
}

std::string SimtMbarriers::check_parity(int rank, int index, int parity) {
  const int uses = find(rank, index).uses;
  if (parity == uses % 2) return "";
  return fmt::format(
      "waits for exchange barrier {} with parity {}, where it has been used {} times", index,
      parity, uses);
}

std::string SimtMbarriers::end(int rank, int index) {
  Mbarrier& here = find(rank, index);
  const Mbarrier was = std::exchange(here, Mbarrier{-1, 0, here.uses + 1});
  if (was.expected == was.stored) return "";
  if (was.expected < 0)
    return fmt::format("waits for exchange barrier {}, but expects nothing", index);
  return fmt::format("expects {} bytes at exchange barrier {}, {} arrived", was.expected, index,
                     was.stored);
}

}  // namespace sinter
