// Limits are coarse, so that small differences in free memory do not change the cells.
#include "src/suite/measure/select_random.h"

#include <algorithm>
#include <bit>

#include "src/base/check.h"
#include "src/cpu/cpu_info.h"
#include "src/suite/cases/program_sizes.h"

namespace sinter::suite {
namespace {

// Larger ones take seconds each on a CPU, once for every provider, for the inputs and the
// reference.
constexpr std::int64_t kMostOnCpu = std::int64_t{1} << 26;
// The simt device runs each thread of a GPU kernel as a fiber.
constexpr std::int64_t kMostSimulated = std::int64_t{1} << 16;
// A cell's inputs and outputs take at most this part of the memory. The rest is for intermediates,
// the copy's buffers, the reference and peers.
constexpr std::uint64_t kShare = 4;

std::int64_t most_elements(const Device& device) {
  if (!device.shares_host_memory()) return kMostElements;
  return device.machine().kind == MachineKind::cpu ? kMostOnCpu : kMostSimulated;
}

std::int64_t most_bytes(const Device& device) {
  const std::uint64_t memory =
      device.shares_host_memory() ? system_memory().total : device.available_memory();
  constexpr std::uint64_t kEnough = std::uint64_t{1} << 48;
  return static_cast<std::int64_t>(std::bit_floor(std::min(memory, kEnough) / kShare));
}

}  // namespace

RandomSet complete_set(const SuiteOptions& options, const Device& device) {
  RandomSet set = *options.random;
  for (const std::string& name : options.cases)
    if (is_program_path(name))
      fail_user("suite", "the random set has the suite's cases only: {} cannot be among them",
                name);
  if (set.cases.empty()) set.cases = options.cases;
  if (set.cases.empty())
    for (const Case& each : all_cases()) set.cases.push_back(each.name);
  if (set.dtypes.empty())
    for (const DType dtype : options.dtypes) set.dtypes.emplace_back(name_of(dtype));
  const bool is_resumed = options.resumed && options.resumed->random;
  if (set.most_elements == 0)
    set.most_elements = is_resumed ? options.resumed->random->most_elements : most_elements(device);
  if (set.most_bytes == 0)
    set.most_bytes = is_resumed ? options.resumed->random->most_bytes : most_bytes(device);
  return set;
}

Selection select_random(const RandomSet& set) {
  const RandomCells drawn = draw_cells(set);
  Selection selection;
  for (const RandomCell& cell : drawn.cells)
    selection.workloads.push_back(case_workload(*cell.what, cell.shape, cell.dtype));
  const auto note = [&](int count, std::int64_t most, const char* unit) {
    if (count > 0)
      selection.notes.push_back(
          fmt::format("{} of the {} random cells had more than {} {}, the most on this device, and "
                      "were drawn again: where more is possible, the same seed gives other cells "
                      "in their place",
                      count, drawn.cells.size(), most, unit));
  };
  note(drawn.above_elements, set.most_elements, "elements");
  note(drawn.above_bytes, set.most_bytes, "bytes in inputs and outputs");
  return selection;
}

}  // namespace sinter::suite
