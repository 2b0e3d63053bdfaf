// Copies arrive group by group; a meeting ends when all blocks have brought their bytes.
#include "src/simt/arrivals.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace sinter {

void SimtFetches::add(void* array, std::int64_t index, const void* from, int line) {
  Copy copy{array, index, line, groups_, {}};
  std::memcpy(copy.bytes.data(), from, kBytes);
  under_way_.push_back(copy);
}

std::vector<SimtFetches::Copy> SimtFetches::arrived(int left) {
  std::vector<Copy> due;
  while (!under_way_.empty() &&
         under_way_.front().group + static_cast<std::uint32_t>(left) < groups_) {
    due.push_back(under_way_.front());
    under_way_.pop_front();
  }
  return due;
}

void SimtFetches::clear() {
  under_way_.clear();
  groups_ = 0;
}

void SimtMeetings::begin() {
  for (std::vector<Place>& places : blocks_) places.clear();
}

SimtMeetings::Place& SimtMeetings::place(int rank, int meeting) {
  std::vector<Place>& places = blocks_[static_cast<std::size_t>(rank)];
  if (places.size() <= static_cast<std::size_t>(meeting))
    places.resize(static_cast<std::size_t>(meeting) + 1);
  return places[static_cast<std::size_t>(meeting)];
}

std::string SimtMeetings::expect(int rank, int meeting, int bytes) {
  Place& here = place(rank, meeting);
  if (here.expected >= 0)
    return fmt::format("expects something at meeting {} again, before it has ended", meeting);
  here.expected = bytes;
  return "";
}

std::string SimtMeetings::check_parity(int rank, int meeting, int parity) {
  const int uses = place(rank, meeting).uses;
  if (parity == uses % 2) return "";
  return fmt::format("waits for meeting {} with parity {}, where it has been used {} times",
                     meeting, parity, uses);
}

std::string SimtMeetings::end(int rank, int meeting) {
  Place& here = place(rank, meeting);
  const Place was = std::exchange(here, Place{-1, 0, here.uses + 1});
  if (was.expected == was.brought) return "";
  if (was.expected < 0) return fmt::format("waits for meeting {}, but expects nothing", meeting);
  return fmt::format("expects {} bytes at meeting {}, {} are brought", was.expected, meeting,
                     was.brought);
}

}  // namespace sinter
