// The rules rest on configs measured over random lengths on an H200.
#include "src/lower/gpu_ragged_rows.h"

#include <algorithm>

namespace sinter {
namespace {

using Row = GpuRowFacts;

std::int64_t threads_of(const RowChoice& choice) {
  return std::int64_t{choice.group} * choice.cluster;
}

// Vectors of one row that fit into a thread's registers.
std::int64_t held_vectors(const Row& row) {
  return std::max<std::int64_t>(1, kRowElements / row.tiles / row.vector / row.words_each());
}

// The fewest threads that hold a row in five vectors of 8 or 16 bytes each, in eight beyond a block
// of 256; more vectors if they are narrower. Few threads compute few offsets and masks, and few
// vectors pad the row little.
RowChoice tight(const Row& row) {
  constexpr std::int64_t kSegment = 4;  // 16-byte packs that neighbouring threads read together
  constexpr int kWidestBlock = 256;
  const std::int64_t held = held_vectors(row);
  const std::int64_t per_pack = std::max<std::int64_t>(1, row.widest() / row.vector);
  const auto most = [&](std::int64_t vectors) {
    return std::clamp<std::int64_t>(held, 1, vectors * std::max<std::int64_t>(1, per_pack / 2));
  };
  std::int64_t threads = kSegment * per_pack;
  while (threads < kWidestBlock && row.vectors_per_thread(threads) > most(5)) threads *= 2;
  while (row.vectors_per_thread(threads) > most(8)) threads *= 2;
  const std::int64_t cluster = std::max<std::int64_t>(1, threads / kWidestBlock);
  const auto group = static_cast<int>(threads / cluster);
  const int block = row.only_reduces ? 2 * kBlockThreads : kBlockThreads / 2;
  return {group, static_cast<int>(cluster), std::max(group, block)};
}

// A full cluster, with two vectors per thread if the machine has room for as many threads.
RowChoice spread(const Row& row) {
  constexpr std::int64_t kResident = 1024;  // threads per multiprocessor, at 64 registers
  const int cluster = row.machine.largest_cluster;
  const std::int64_t held = held_vectors(row);
  const std::int64_t room = kResident * row.machine.multiprocessors / row.rows / cluster;
  const auto each = [&](std::int64_t group) { return row.vectors_per_thread(group * cluster); };
  std::int64_t group = 4 * kBlockThreads;
  while (group > kBlockThreads && each(group / 2) <= held && (group > room || each(group) < 2))
    group /= 2;
  return {static_cast<int>(group), cluster, static_cast<int>(group)};
}

// Instructions per row, in vectors: besides its vectors a thread has work for about one more.
std::int64_t work_of(const Row& row, const RowChoice& choice) {
  return threads_of(choice) * (1 + row.vectors_per_thread(threads_of(choice)));
}

bool is_padded(const RaggedRow& ragged) {
  const std::int64_t threads = threads_of(ragged.usual);
  const Row& row = ragged.row;
  return row.cut.aligned_to >= 0 ||
         threads * row.vectors_per_thread(threads) * row.vector != row.length;
}

// Whether the usual choice wastes threads, or registers in large blocks, and there are rows enough
// to do with fewer.
bool wastes_threads(const RaggedRow& ragged) {
  constexpr int kLargeBlock = 256;
  const Row& row = ragged.row;
  if (!is_padded(ragged) || ragged.usual.is_dense) return false;
  const RowChoice other = tight(row);
  const std::int64_t threads = threads_of(other);
  const bool is_long = threads > kLargeBlock;
  if ((is_long && row.is_few(4)) || other.cluster > row.machine.largest_cluster ||
      row.rows * threads < std::int64_t{4} * kBlockThreads * row.machine.multiprocessors)
    return false;
  const bool is_large = row.cut.aligned_to >= 0 && ragged.usual.group > kLargeBlock && is_long;
  return is_large || 10 * work_of(row, ragged.usual) > 11 * work_of(row, other);
}

const Rule<RaggedRow, RowChoice> kRaggedRules[] = {
    {"rows that the rules below would pad, and enough of them", wastes_threads,
     [](const RaggedRow& ragged) { return tight(ragged.row); },
     "random lengths on an H200: f16 layer norm 554476x292 364 to 188 us, bf16 sum and maximum "
     "157333x1235 183 to 97, copies 153 and 94"},
    {"less than one long row per multiprocessor, which the rules below would pad",
     [](const RaggedRow& ragged) {
       const Row& row = ragged.row;
       return row.length > kLongRow && row.is_few(1) && row.machine.largest_cluster > 1 &&
              is_padded(ragged);
     },
     [](const RaggedRow& ragged) { return spread(ragged.row); },
     "random lengths on an H200: f16 layer norm 5x8543 7.7 to 5.0 us, 18x19855 7.5 to 6.0, bf16 "
     "74x56050 18.0 to 12.3"},
};

}  // namespace

std::optional<RowDecision> ragged_decision(const RaggedRow& ragged) {
  for (const auto& rule : kRaggedRules)
    if (rule.applies(ragged)) return RowDecision{rule.choose(ragged), text_of(kThreadsPart, rule)};
  return std::nullopt;
}

void list_ragged_rules(std::vector<RuleText>& texts) {
  list_rules(kThreadsPart, kRaggedRules, texts);
}

}  // namespace sinter
