// Whole blocks or clusters take part in barriers, so barrier counts (epochs) tell whether two
// accesses are ordered: the block's count within a block, the cluster's between blocks.
#include "src/simt/shared_memory.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include "src/base/check.h"

namespace sinter {

// An access, and the epochs of its block and cluster at that time.
struct SharedMemory::Moment {
  SimtPlace place;
  std::uint32_t block_epoch = 0;
  std::uint32_t cluster_epoch = 0;
  bool valid = false;
};

// Two distinct readers are enough: any writer differs from at least one of them.
struct SharedMemory::Cell {
  std::uint32_t serial = 0;
  Moment writer;
  Moment readers[2];
};

struct SharedMemory::Block {
  std::uint32_t epoch = 0;
  std::optional<SharedComplaint> unwritten;  // the first read of uninitialized memory
};

struct SharedMemory::Array {
  const void* site;
  std::string name;
  std::int64_t count;
  int bytes;
  // For all blocks, block by block. Separately allocated: `arrays_` may move.
  std::unique_ptr<std::byte[]> data;
  std::unique_ptr<Cell[]> cells;
};

namespace {

constexpr int kPoison = 0xcb;

}  // namespace

SharedMemory::SharedMemory(int cluster) : cluster_(cluster) {
  blocks_.resize(static_cast<std::size_t>(cluster));
  arrays_.reserve(64);  // pointers to elements are handed out
}

SharedMemory::~SharedMemory() = default;

void SharedMemory::begin() {
  ++serial_;
  cluster_epoch_ = 0;
  unseen_put_.reset();
  for (Block& block : blocks_) block = {};
}

SharedMemory::Array* SharedMemory::declare(const SharedDeclaration& declaration,
                                           const SimtPlace& by,
                                           std::optional<SharedComplaint>& complaint) {
  const auto& [site, name, count, bytes, kind] = declaration;
  for (Array& array : arrays_)
    if (array.site == site) return &array;
  const bool is_dynamic = kind == SharedKind::dynamic;
  (is_dynamic ? dynamic_bytes_ : declared_bytes_) += count * bytes;
  const std::int64_t all = declared_bytes_ + dynamic_bytes_;
  const bool too_many = declared_bytes_ > kMostDeclaredBytes || all > kMostSharedBytes;
  if (count < 1 || too_many || arrays_.size() == arrays_.capacity()) {
    complaint = {fmt::format("{{0}} declares {}[{}]: {} bytes of shared memory in {} arrays, a "
                             "block can have {}",
                             name, count, is_dynamic ? all : declared_bytes_, arrays_.size() + 1,
                             is_dynamic ? kMostSharedBytes : kMostDeclaredBytes),
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
  return {by, blocks_[by.rank].epoch, cluster_epoch_, true};
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
  Block& block = blocks_[now.place.rank];
  // A write before the next barrier would make this a race, the better message: report it later.
  if (!cell.writer.valid && !block.unwritten)
    block.unwritten = {
        fmt::format("{{0}} reads {}[{}], which was never written", array.name, index), now.place,
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

std::optional<SharedComplaint> SharedMemory::refusal_of(const SharedAccess& access,
                                                        const SimtPlace& by) const {
  const Array& array = *static_cast<const Array*>(access.array);
  const auto complain = [&by](std::string what) {
    return SharedComplaint{std::move(what), by, std::nullopt};
  };
  if (access.index < 0 || access.index >= array.count)
    return complain(fmt::format("{{0}} {} {}[{}], which has {} elements",
                                access.write ? "writes" : "reads", array.name, access.index,
                                array.count));
  if (access.rank < 0 || access.rank >= cluster_)
    return complain(fmt::format("{{0}} puts {}[{}] into block {} of a cluster of {}", array.name,
                                access.index, access.rank, cluster_));
  if (access.rank != by.rank && !access.cluster_started)
    return complain(
        fmt::format("{{0}} puts {}[{}] into block {} of the cluster, which may not "
                    "have started: no wait for the cluster before",
                    array.name, access.index, access.rank));
  return std::nullopt;
}

void* SharedMemory::access(const SharedAccess& access, const SimtPlace& by,
                           std::optional<SharedComplaint>& complaint) {
  complaint = refusal_of(access, by);
  if (complaint) return nullptr;
  Array& array = *static_cast<Array*>(access.array);
  const bool blank = !cell_of(array, access.index, access.rank).writer.valid;
  complaint = access.write ? note_write(array, access.index, access.rank, moment(by))
                           : note_read(array, access.index, moment(by));
  if (complaint) return nullptr;
  std::byte* element = array.data.get() + (access.rank * array.count + access.index) * array.bytes;
  if (blank) std::memset(element, kPoison, static_cast<std::size_t>(array.bytes));
  return element;
}

std::optional<SharedComplaint> SharedMemory::block_synced(int rank) {
  Block& block = blocks_[rank];
  ++block.epoch;
  return block.unwritten;
}

std::optional<SharedComplaint> SharedMemory::cluster_synced() {
  ++cluster_epoch_;
  unseen_put_.reset();
  for (int rank = 0; rank < cluster_; ++rank)
    if (auto complaint = block_synced(rank)) return complaint;
  return std::nullopt;
}

std::optional<SharedComplaint> SharedMemory::end() {
  for (const Block& block : blocks_)
    if (block.unwritten) return block.unwritten;
  return unseen_put_;
}

}  // namespace sinter
