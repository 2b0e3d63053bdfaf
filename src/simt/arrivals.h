// What arrives later than it is asked for: copies that a thread fetches, and the bytes that the
// blocks of a cluster bring to a meeting. In: what threads ask for. Out: copies when they are due,
// or what is wrong with a meeting.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace sinter {

// Of one thread: groups of copies, which arrive in order.
class SimtFetches {
 public:
  static constexpr std::size_t kBytes = 16;  // of a copy

  struct Copy {
    void* array;
    std::int64_t index;
    int line;
    std::uint32_t group;
    std::array<std::byte, kBytes> bytes;
  };

  void add(void* array, std::int64_t index, const void* from, int line);
  void end_group() { ++groups_; }
  // What arrives at the latest when all but the last `left` groups have to be there.
  std::vector<Copy> arrived(int left);
  void clear();

 private:
  std::deque<Copy> under_way_;
  std::uint32_t groups_ = 0;  // that have ended
};

// Of one cluster: meetings by number, each with a place in every block.
class SimtMeetings {
 public:
  explicit SimtMeetings(int cluster) : blocks_(static_cast<std::size_t>(cluster)) {}

  void begin();  // another cluster

  // Each returns what is wrong, or nothing.
  std::string expect(int rank, int meeting, int bytes);
  std::string check_parity(int rank, int meeting, int parity);
  std::string end(int rank, int meeting);  // all have put what they bring
  void put(int rank, int meeting, int bytes) { place(rank, meeting).brought += bytes; }

 private:
  struct Place {
    int expected = -1;  // -1: nobody has said
    int brought = 0;
    int uses = 0;
  };
  Place& place(int rank, int meeting);

  std::vector<std::vector<Place>> blocks_;
};

}  // namespace sinter
