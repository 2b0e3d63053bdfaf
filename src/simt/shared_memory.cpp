// Barriers are met by whole blocks or clusters, so a count of them says whether two accesses are
// ordered: threads of one block by its own count, threads of different blocks by the cluster's.
#include "src/simt/shared_memory.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

#include "src/base/check.h"

namespace sinter {

// An access, and the barriers that its block and its cluster had met by then.
struct SharedMemory::Moment {
  SimtPlace place;
  std::uint32_t block_epoch = 0;
  std::uint32_t cluster_epoch = 0;
  bool valid = false;
};

// Two readers are enough: a writer differs from one of them, if it differs from any.
struct SharedMemory::Cell {
  std::uint32_t serial = 0;
  Moment writer;
  Moment readers[2];
};

struct SharedMemory::Block {
  std::uint32_t epoch = 0;
  std::optional<SharedComplaint> unwritten;  // the first read of what nobody has written so far
};

struct SharedMemory::Array {
  const void* site;
  std::string name;
  std::int64_t count;
  int bytes;
  // Of all blocks, one after the other. Their own memory: `arrays_` may move.
  std::unique_ptr<std::byte[]> data;
  std::unique_ptr<Cell[]> cells;
};

namespace {

constexpr int kPoison = 0xcb;

}  // namespace

SharedMemory::SharedMemory(int cluster) : cluster_(cluster) {
  blocks_.resize(static_cast<std::size_t>(cluster));
  arrays_.reserve(64);  // handed out by address
}

SharedMemory::~SharedMemory() = default;

void SharedMemory::begin() {
  ++serial_;
  cluster_epoch_ = 0;
  unseen_put_.reset();
  for (Block& block : blocks_) block = {};
}

SharedMemory::Array* SharedMemory::declare(const void* site, const char* name, std::int64_t count,
                                           int bytes, SharedKind kind, const SimtPlace& by,
                                           std::optional<SharedComplaint>& complaint) {
  for (Array& array : arrays_)
    if (array.site == site) return &array;
  (kind == SharedKind::declared ? declared_bytes_ : added_bytes_) += count * bytes;
  const std::int64_t all = declared_bytes_ + added_bytes_;
  const bool too_many = declared_bytes_ > kMostDeclaredBytes || all > kMostSharedBytes;
  if (count < 1 || too_many || arrays_.size() == arrays_.capacity()) {
    complaint = {fmt::format("{{0}} declares {}[{}]: {} bytes of shared memory in {} arrays, a "
                             "block can have {}",
                             name, count, kind == SharedKind::declared ? declared_bytes_ : all,
                             arrays_.size() + 1,
                             kind == SharedKind::declared ? kMostDeclaredBytes : kMostSharedBytes),
                 by, std::nullopt};
    return nullptr;
  }
  const auto cells = static_cast<std::size_t>(count) * static_cast<std::size_t>(cluster_);
  arrays_.push_back({site, name, count, bytes,
                     std::make_unique<std::byte[]>(cells * static_cast<std::size_t>(bytes)),
                     std::make_unique<Cell[]>(cells)});
  return &arrays_.back();
}

SharedMemory::Cell& SharedMemory::cell_of(Array& array, std::int64_t index, int rank) {
  Cell& cell = array.cells[static_cast<std::size_t>(rank * array.count + index)];
  if (cell.serial != serial_) cell = {.serial = serial_, .writer = {}, .readers = {}};
  return cell;
}

SharedMemory::Moment SharedMemory::moment(const SimtPlace& by) const {
  return {by, blocks_[static_cast<std::size_t>(by.rank)].epoch, cluster_epoch_, true};
}

bool SharedMemory::ordered(const Moment& a, const Moment& b) {
  if (!a.valid || a.place.same_thread(b.place)) return true;
  return a.place.rank == b.place.rank ? a.block_epoch != b.block_epoch
                                      : a.cluster_epoch != b.cluster_epoch;
}

std::optional<SharedComplaint> SharedMemory::note_read(Array& array, std::int64_t index,
                                                       const Moment& now) {
  Cell& cell = cell_of(array, index, now.place.rank);
  if (!ordered(cell.writer, now))
    return SharedComplaint{
        fmt::format("race on {}[{}]: {{0}} writes it, {{1}} reads it, with no barrier between",
                    array.name, index),
        cell.writer.place, now.place};
  Block& block = blocks_[static_cast<std::size_t>(now.place.rank)];
  // If somebody writes it before the next barrier, that is a race, and the better thing to say.
  if (!cell.writer.valid && !block.unwritten)
    block.unwritten = {
        fmt::format("{{0}} reads {}[{}], which nobody has written", array.name, index), now.place,
        std::nullopt};
  for (Moment& reader : cell.readers) {
    if (reader.valid && reader.block_epoch == now.block_epoch) {
      if (reader.place.same_thread(now.place)) break;
      continue;
    }
    reader = now;
    break;
  }
  return std::nullopt;
}

std::optional<SharedComplaint> SharedMemory::note_write(Array& array, std::int64_t index, int rank,
                                                        const Moment& now) {
  Cell& cell = cell_of(array, index, rank);
  if (!ordered(cell.writer, now))
    return SharedComplaint{
        fmt::format("race on {}[{}]: {{0}} and {{1}} write it, with no barrier between", array.name,
                    index),
        cell.writer.place, now.place};
  for (const Moment& reader : cell.readers)
    if (!ordered(reader, now))
      return SharedComplaint{
          fmt::format("race on {}[{}]: {{0}} reads it, {{1}} writes it, with no barrier between",
                      array.name, index),
          reader.place, now.place};
  cell.writer = now;
  if (rank != now.place.rank && !unseen_put_)
    unseen_put_ = {fmt::format("{{0}} puts {}[{}] into block {} of the cluster, which may have "
                               "ended: no cluster barrier follows",
                               array.name, index, rank),
                   now.place, std::nullopt};
  return std::nullopt;
}

void* SharedMemory::access(Array& array, std::int64_t index, int rank, bool write, bool met,
                           const SimtPlace& by, std::optional<SharedComplaint>& complaint) {
  const char* verb = write ? "writes" : "reads";
  if (index < 0 || index >= array.count) {
    complaint = {
        fmt::format("{{0}} {} {}[{}], which has {} elements", verb, array.name, index, array.count),
        by, std::nullopt};
    return nullptr;
  }
  if (rank < 0 || rank >= cluster_) {
    complaint = {fmt::format("{{0}} puts {}[{}] into block {} of a cluster of {}", array.name,
                             index, rank, cluster_),
                 by, std::nullopt};
    return nullptr;
  }
  if (rank != by.rank && !met) {
    complaint = {fmt::format("{{0}} puts {}[{}] into block {} of the cluster, which may not have "
                             "started: no wait for the cluster before",
                             array.name, index, rank),
                 by, std::nullopt};
    return nullptr;
  }
  const bool blank = !cell_of(array, index, rank).writer.valid;
  complaint =
      write ? note_write(array, index, rank, moment(by)) : note_read(array, index, moment(by));
  if (complaint) return nullptr;
  std::byte* element = array.data.get() + (rank * array.count + index) * array.bytes;
  if (blank) std::memset(element, kPoison, static_cast<std::size_t>(array.bytes));
  return element;
}

std::optional<SharedComplaint> SharedMemory::block_met(int rank) {
  Block& block = blocks_[static_cast<std::size_t>(rank)];
  ++block.epoch;
  return block.unwritten;
}

std::optional<SharedComplaint> SharedMemory::cluster_met() {
  ++cluster_epoch_;
  unseen_put_.reset();
  for (int rank = 0; rank < cluster_; ++rank)
    if (auto complaint = block_met(rank)) return complaint;
  return std::nullopt;
}

std::optional<SharedComplaint> SharedMemory::end() {
  for (const Block& block : blocks_)
    if (block.unwritten) return block.unwritten;
  return unseen_put_;
}

}  // namespace sinter
