// Measured on an H200 where a reason does not say otherwise. The rules prefer few threads with many
// elements each, so that blocks are small and some load while others wait at barriers; and clusters
// of small blocks if one block cannot hold the row.
#include "src/lower/gpu_row_rules.h"

#include <algorithm>

#include "src/base/rounding.h"
#include "src/lower/gpu_ragged_rows.h"
#include "src/tile/thread_layout.h"

namespace sinter {
namespace {

using tile::kMostThreads;
using tile::kWarpThreads;
using Row = GpuRowFacts;

// --- choices ---

// A thread holds a row, or a few share it. Smaller blocks if these would be few, or would need
// more shared memory than several blocks can have.
RowChoice dense(const Row& row) {
  constexpr std::int64_t kMostElements = 32;
  constexpr std::int64_t kMostBytes = 32 << 10;
  int group = 1;
  while (ceil_div(row.length, group) * row.tiles > kMostElements && group < kWarpThreads)
    group *= 2;
  const std::int64_t moved = row.facts.full_reads() + (row.only_reduces ? 0 : 1);
  const auto row_bytes = std::max<std::int64_t>(1, moved) * (row.length + 1) * 4;
  int threads = kBlockThreads;
  while (threads > kWarpThreads &&
         (threads / group * row_bytes > kMostBytes ||
          row.rows * group < std::int64_t{4} * threads * row.machine.multiprocessors))
    threads /= 2;
  return {group, 1, threads, true};
}

// Several rows per warp.
RowChoice within_warp(const Row& row, std::int64_t each, int block) {
  return {std::min(kWarpThreads, row.threads_for(each)), 1, block};
}

// A block holds one row, or several while there are rows enough.
RowChoice within_block(const Row& row, std::int64_t elements) {
  const int threads = std::clamp(row.threads_for(elements / row.tiles), kWarpThreads, kMostThreads);
  const bool is_light = row.shared_reads > 0 && row.is_narrow && row.length < kMiddleRow;
  const int block = is_light ? kBlockThreads / 2 : kBlockThreads;
  return {threads, 1, row.is_few(4) ? threads : block};
}

std::int64_t least_threads(const Row& row) { return row.threads_for(kRowElements / row.tiles); }

// As many blocks of `block` threads as a cluster can have.
RowChoice over_cluster(const Row& row, std::int64_t threads, std::int64_t block = kBlockThreads) {
  const std::int64_t cluster =
      std::clamp<std::int64_t>(threads / block, 1, row.machine.largest_cluster);
  const auto group = static_cast<int>(std::min<std::int64_t>(threads / cluster, kMostThreads));
  return {group, static_cast<int>(cluster), group};
}

// Twice the least threads, up to a cluster of blocks of `block` threads.
RowChoice with_more_threads(const Row& row, int block) {
  const std::int64_t least = least_threads(row);
  const std::int64_t widest = std::int64_t{block} * row.machine.largest_cluster;
  return over_cluster(row, std::max(least, std::min(2 * least, widest)));
}

// Blocks of `block` threads, larger if the cluster would not hold the row. May exceed a block.
RowChoice packed(const Row& row, std::int64_t block, std::int64_t at_least = 1) {
  const std::int64_t threads = std::max(least_threads(row), at_least);
  const auto group = static_cast<int>(
      std::clamp<std::int64_t>(block, threads / row.machine.largest_cluster, threads));
  return {group, static_cast<int>(threads / group), group};
}

// The most threads up to `most` that pad the row little.
std::int64_t threads_that_pad_little(const Row& row, std::int64_t most) {
  while (most > least_threads(row) && !row.pads_little(most)) most /= 2;
  return most;
}

// --- conditions ---

bool is_short(const Row& row) { return row.length <= kShortRow; }
bool fits_block(const Row& row) { return row.length <= kLongRow; }
bool shares(const Row& row) { return row.shared_reads > 0; }
bool is_packed(const Row& row) { return row.is_packed && !row.stores_at_once; }

// One vector for each of 8 * 128 threads on every multiprocessor, in elements.
bool is_little_work(const Row& row, std::int64_t times) {
  return row.rows * row.length < times * 8L * kBlockThreads * row.machine.multiprocessors;
}

constexpr int kPackedBlock = 512;
constexpr char kSweeps[] = "sweeps over rows and lengths on an H200";
constexpr char kSmallBlocks[] =
    "sweeps on an H200: some small blocks load while others wait at barriers";
constexpr char kPackedSweeps[] =
    "sweeps on an H200: packed halves leave registers for other blocks, even beside a large one";

bool is_invariant(const Row& row) { return row.facts.space.batch_invariant; }

// Batch-invariant programs: the length and the vector decide how many threads share a row. The
// number of tiles does not, as long as they fit: a single row may share its kernel with operations
// on operands that many rows share.
const RowRule kInvariantRules[] = {
    {"batch-invariant short rows",
     [](const Row& row) { return is_invariant(row) && is_short(row); },
     [](const Row& row) { return within_warp(row, 8, kBlockThreads); },
     "judgement: reductions by shuffles, for few rows and for many"},
    {"batch-invariant middle rows",
     [](const Row& row) { return is_invariant(row) && fits_block(row); },
     [](const Row& row) {
       const int threads = std::clamp(row.threads_for(16), kWarpThreads, kMostThreads);
       return RowChoice{threads, 1, row.is_few(4) ? threads : kBlockThreads};
     },
     "judgement: between what is best for few rows and for many"},
    {"batch-invariant long rows",
     [](const Row& row) { return is_invariant(row) && row.machine.largest_cluster > 1; },
     [](const Row& row) {
       const std::int64_t wanted =
           std::min(row.threads_for(16), kBlockThreads * row.machine.largest_cluster);
       return over_cluster(row, std::max<std::int64_t>(row.threads_for(kRowElements), wanted));
     },
     "judgement: as for few rows, since servers' batches are small"},
};

// Rows of up to 512 elements: in at most a warp.
const RowRule kShortRules[] = {
    {"short rows that begin anywhere, without gaps",
     [](const Row& row) {
       return row.facts.has_short_uneven_rows(row.col_axis) &&
              row.facts.has_dense_rows(row.col_axis, row.facts.row_axis_beside(row.col_axis));
     },
     dense, "a few lanes per row used a part of each memory transaction; one run uses all of it"},
    {"short rows, stored without waiting, little work",
     [](const Row& row) { return is_short(row) && row.stores_at_once && is_little_work(row, 4); },
     [](const Row& row) {
       const int threads = std::min(kBlockThreads, row.threads_for(row.vector));
       return RowChoice{threads, 1, std::max(kBlockThreads, 2 * threads)};
     },
     "sweeps on an H200: nothing waits for the reduction, so one vector per thread is fastest"},
    {"short rows, little work",
     [](const Row& row) { return is_short(row) && is_little_work(row, 1); },
     [](const Row& row) { return within_warp(row, row.vector, kBlockThreads / 2); },
     "sweeps on an H200: blocks for all multiprocessors first"},
    {"short 32-bit rows, stored without waiting",
     [](const Row& row) { return is_short(row) && row.stores_at_once && !row.is_narrow; },
     [](const Row& row) { return within_warp(row, 8, kBlockThreads); }, "half the text to compile"},
    {"short 16-bit rows, only reduced",
     [](const Row& row) { return is_short(row) && row.only_reduces && row.is_narrow; },
     [](const Row& row) { return within_warp(row, 16 / row.tiles, 2 * kBlockThreads); },
     "sweeps on an H200: a block of 128 threads reads little, so more rows go into one"},
    {"other short rows", is_short,
     [](const Row& row) { return within_warp(row, 16 / row.tiles, kBlockThreads); },
     "sweeps on an H200: reductions by shuffles, without barriers"},
};

// Rows of up to 8192 elements: in one block.
const RowRule kMiddleRules[] = {
    {"eight or more middle rows per multiprocessor, only reduced",
     [](const Row& row) { return fits_block(row) && row.only_reduces && !row.is_few(8); },
     [](const Row& row) {
       const int threads = std::min(row.threads_for(2 * row.vector), kMostThreads);
       return RowChoice{threads, 1, 2 * kBlockThreads};
     },
     "sweeps on an H200, with a cold cache: more threads have more loads in flight"},
    {"under four rows of up to 1024 elements per multiprocessor, stored without waiting",
     [](const Row& row) {
       return fits_block(row) && row.stores_at_once && row.is_few(4) && row.length <= 1024;
     },
     [](const Row& row) { return within_block(row, row.vector); }, kSweeps},
    {"middle rows, stored without waiting",
     [](const Row& row) { return fits_block(row) && row.stores_at_once; },
     [](const Row& row) { return within_block(row, 2 * row.vector); }, "half the text to compile"},
    {"middle 32-bit rows with shared operands",
     [](const Row& row) { return fits_block(row) && shares(row) && !row.is_narrow; },
     [](const Row& row) { return within_block(row, 16); }, kSweeps},
    {"under two middle 16-bit rows per multiprocessor, with shared operands",
     [](const Row& row) { return fits_block(row) && shares(row) && row.is_few(2); },
     [](const Row& row) { return within_block(row, 16); }, kSweeps},
    {"four or more 16-bit rows below 4096 per multiprocessor, with shared operands",
     [](const Row& row) {
       return fits_block(row) && shares(row) && !row.is_few(4) && row.length < kMiddleRow;
     },
     [](const Row& row) { return within_block(row, 32); }, kSweeps},
    {"four or more middle 16-bit rows per multiprocessor, with shared operands",
     [](const Row& row) { return fits_block(row) && shares(row) && !row.is_few(4); },
     [](const Row& row) { return within_block(row, 64); }, kSweeps},
    {"under four 16-bit rows above 4096 per multiprocessor, with shared operands",
     [](const Row& row) { return fits_block(row) && shares(row) && row.length > kMiddleRow; },
     [](const Row& row) { return within_block(row, 32); },
     "sweeps on an H200 at 8192 elements: two blocks of 256 threads, as for 4096"},
    {"under four middle 16-bit rows per multiprocessor, with shared operands",
     [](const Row& row) { return fits_block(row) && shares(row); },
     [](const Row& row) { return within_block(row, 16); }, kSweeps},
    {"few rows below 4096",
     [](const Row& row) {
       return fits_block(row) && row.is_few(row.is_narrow ? 4 : 8) && row.length < kMiddleRow;
     },
     [](const Row& row) { return within_block(row, 16); },
     "f32 softmax 512x1024: 6.05 to 5.63 us with a block per row on an H200"},
    {"few middle rows",
     [](const Row& row) { return fits_block(row) && row.is_few(row.is_narrow ? 4 : 8); },
     [](const Row& row) { return within_block(row, 32); }, kSweeps},
    {"other middle 16-bit rows", [](const Row& row) { return fits_block(row) && row.is_narrow; },
     [](const Row& row) { return within_block(row, 64); }, kSmallBlocks},
    {"other middle rows", fits_block, [](const Row& row) { return within_block(row, 32); },
     kSmallBlocks},
};

// Longer rows: in a cluster of small blocks.
const RowRule kLongRules[] = {
    {"long rows without clusters", [](const Row& row) { return row.machine.largest_cluster == 1; },
     [](const Row& row) {
       const auto group =
           static_cast<int>(std::clamp<std::int64_t>(least_threads(row), 256, kMostThreads));
       return RowChoice{group, 1, group};
     },
     "judgement: one block holds the row in registers, or the loop over chunks takes it"},
    {"few long packed rows with shared operands",
     [](const Row& row) { return is_packed(row) && row.has_few_large_rows(); },
     [](const Row& row) {
       return packed(row, kBlockThreads, kBlockThreads * row.machine.largest_cluster);
     },
     "f16 layer norm on an H200: 256x65536 25.3 to 22.3 us, 512x65536 42.0 to 38.3"},
    {"under four long packed rows per multiprocessor",
     [](const Row& row) { return is_packed(row) && !shares(row) && row.is_few(4); },
     [](const Row& row) { return packed(row, kBlockThreads); }, kPackedSweeps},
    {"under sixteen long packed rows per multiprocessor",
     [](const Row& row) { return is_packed(row) && !shares(row) && row.is_few(16); },
     [](const Row& row) { return packed(row, 2 * kBlockThreads); }, kPackedSweeps},
    {"many long packed rows", [](const Row& row) { return is_packed(row) && !shares(row); },
     [](const Row& row) { return packed(row, kPackedBlock); },
     "f16 at 32768 columns: clusters of eight small blocks were 30% slower on an H200"},
    {"less than one long packed row per multiprocessor, with shared operands",
     [](const Row& row) { return is_packed(row) && row.is_few(1); },
     [](const Row& row) {
       return packed(row, kPackedBlock, threads_that_pad_little(row, 2 * kPackedBlock));
     },
     "f16 layer norm 128x16384: 8.06 to 7.52 us with two blocks per row on an H200"},
    {"under two long packed rows per multiprocessor, with shared operands",
     [](const Row& row) { return is_packed(row) && row.is_few(2); },
     [](const Row& row) {
       return packed(row, kPackedBlock, threads_that_pad_little(row, kPackedBlock));
     },
     kSweeps},
    {"under four long packed rows per multiprocessor, with shared operands",
     [](const Row& row) { return is_packed(row) && row.is_few(4); },
     [](const Row& row) { return packed(row, 2 * kBlockThreads); }, kPackedSweeps},
    {"other long packed rows with shared operands", is_packed,
     [](const Row& row) { return packed(row, kPackedBlock); }, kPackedSweeps},
    {"few or very long 32-bit rows with shared operands",
     [](const Row& row) {
       return shares(row) && !row.is_narrow && (row.length >= kLongest || row.is_few(8));
     },
     [](const Row& row) {
       const std::int64_t widest = std::int64_t{2} * kBlockThreads * row.machine.largest_cluster;
       const std::int64_t wanted = std::min<std::int64_t>(row.threads_for(32), widest);
       return over_cluster(row, std::max(least_threads(row), wanted));
     },
     "sweeps of layer norm on an H200: half the elements per thread leave registers for the "
     "weights"},
    {"long 32-bit rows with shared operands",
     [](const Row& row) { return shares(row) && !row.is_narrow; },
     [](const Row& row) { return over_cluster(row, least_threads(row), 2 * kBlockThreads); },
     "sweeps of layer norm on an H200: larger blocks load the weights less often"},
    {"long rows, stored without waiting", [](const Row& row) { return row.stores_at_once; },
     [](const Row& row) { return with_more_threads(row, 2 * kBlockThreads); },
     "half the text to compile"},
    {"under four long 32-bit rows per multiprocessor, much work",
     [](const Row& row) { return row.has_much_to_do() && !row.is_narrow && row.is_few(4); },
     [](const Row& row) { return with_more_threads(row, 2 * kBlockThreads); },
     "judgement: little is read for the work done"},
    {"few long rows", [](const Row& row) { return row.is_few(row.has_much_to_do() ? 4 : 8); },
     [](const Row& row) { return with_more_threads(row, kBlockThreads); }, kSweeps},
    {"long 16-bit rows with shared operands and computed values", shares,
     [](const Row& row) { return with_more_threads(row, kBlockThreads); }, kSweeps},
    {"other long rows", [](const Row&) { return true; },
     [](const Row& row) { return over_cluster(row, least_threads(row)); }, kSmallBlocks},
};

const PrefetchRule kPrefetchRules[] = {
    {"few long packed rows with shared operands",
     [](const PrefetchFacts& facts) {
       return facts.row.is_packed && facts.row.has_few_large_rows();
     },
     [](const PrefetchFacts&) { return 1; },
     "f16 layer norm on an H200: 256x65536 25.3 to 22.3 us, 512x65536 42.0 to 38.3"},
    {"packed rows of 8193 to 16384 with shared operands, under eight per multiprocessor",
     [](const PrefetchFacts& facts) {
       const Row& row = facts.row;
       return row.is_packed && shares(row) && row.length > kLongRow && row.length <= 2 * kLongRow &&
              row.is_few(8);
     },
     [](const PrefetchFacts&) { return 1; }, kSweeps},
    {"other packed rows", [](const PrefetchFacts& facts) { return facts.row.is_packed; },
     [](const PrefetchFacts&) { return 0; }, "the room is worth more as resident blocks"},
    {"rows with much work", [](const PrefetchFacts& facts) { return facts.row.has_much_to_do(); },
     [](const PrefetchFacts&) { return 0; }, "judgement: loads are not what they wait for"},
    {"16-bit rows above 16384, up to four waves",
     [](const PrefetchFacts& facts) {
       return facts.row.is_narrow && facts.row.length > 2 * kLongRow && facts.waves <= 4;
     },
     [](const PrefetchFacts&) { return 1; }, "few waves would leave gaps between them"},
    {"rows without shared operands, or of 16 bits",
     [](const PrefetchFacts& facts) { return !shares(facts.row) || facts.row.is_narrow; },
     [](const PrefetchFacts&) { return 0; }, "judgement: a new block loads as early"},
    {"very long rows with shared operands, under two per multiprocessor",
     [](const PrefetchFacts& facts) { return facts.row.length >= kLongest && facts.row.is_few(2); },
     [](const PrefetchFacts&) { return 1; }, "a block has no third row to prefetch"},
    {"very long rows with shared operands",
     [](const PrefetchFacts& facts) { return facts.row.length >= kLongest; },
     [](const PrefetchFacts&) { return 2; }, "sweeps of layer norm on an H200"},
    {"long rows with shared operands, under eight per multiprocessor",
     [](const PrefetchFacts& facts) { return facts.row.length > kLongRow && facts.row.is_few(8); },
     [](const PrefetchFacts&) { return 1; },
     "sweeps of layer norm on an H200: the weights are loaded once per block"},
    {"other rows", [](const PrefetchFacts&) { return true; },
     [](const PrefetchFacts&) { return 0; }, "judgement: there are many blocks"},
};

const RowRule& usual_rule(const GpuRowFacts& row) {
  for (const RowRule& rule : kInvariantRules)
    if (rule.applies(row)) return rule;
  for (const RowRule& rule : kShortRules)
    if (rule.applies(row)) return rule;
  if (fits_block(row)) return first_rule(kMiddleRules, row);
  return first_rule(kLongRules, row);
}

}  // namespace

RowDecision decide_row(const GpuRowFacts& row) {
  const RowRule& usual = usual_rule(row);
  const RowChoice choice = usual.choose(row);
  if (is_invariant(row)) return {choice, text_of(kThreadsPart, usual)};
  return ragged_decision({row, choice}).value_or(RowDecision{choice, text_of(kThreadsPart, usual)});
}

const PrefetchRule& prefetch_rule(const PrefetchFacts& facts) {
  return first_rule(kPrefetchRules, facts);
}

RuleText first_that_fits() {
  return {kThreadsPart, "the smallest cluster that holds the row",
          "the registers of the block that the rules above choose do not hold the row"};
}

void list_row_rules(std::vector<RuleText>& texts) {
  list_ragged_rules(texts);
  list_rules(kThreadsPart, kInvariantRules, texts);
  list_rules(kThreadsPart, kShortRules, texts);
  list_rules(kThreadsPart, kMiddleRules, texts);
  list_rules(kThreadsPart, kLongRules, texts);
  texts.push_back(first_that_fits());
  list_rules(kPrefetchPart, kPrefetchRules, texts);
}

}  // namespace sinter
