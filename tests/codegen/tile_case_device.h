// Runs a TileCase on a device and compares it with the interpreter, for any thread mapping: for the
// devices that run render_cuda()'s text.
// In: a case, a device, a mapping. Out: test failures, including overwritten guard bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "src/base/check.h"
#include "src/runtime/compile_kernel.h"
#include "src/runtime/device.h"
#include "tests/codegen/tile_case_memory.h"

namespace sinter {

// Copies a Memory's blocks to a device that does not share the host's memory; fetch() copies back.
class DeviceMemoryBlocks {
 public:
  DeviceMemoryBlocks(Device& device, Memory& host) : device_(device), host_(host) {
    for (std::size_t i = 0; i < host.blocks.size(); ++i) {
      const std::vector<std::byte>& block = host.blocks[i];
      storages_.push_back(device.allocate(block.size()));
      device.copy_from_host(storages_[i]->data(), block.data(), block.size());
      bindings_.push_back(
          {static_cast<std::byte*>(storages_[i]->data()) + host.before, host.bindings[i].elements});
    }
  }
  const std::vector<tile::BufferBinding>& bindings() const { return bindings_; }
  void fetch() {
    for (std::size_t i = 0; i < storages_.size(); ++i)
      device_.copy_to_host(host_.blocks[i].data(), storages_[i]->data(), host_.blocks[i].size());
  }

 private:
  Device& device_;
  Memory& host_;
  std::vector<StoragePtr> storages_;
  std::vector<tile::BufferBinding> bindings_;
};

inline void launch_on(Device& device, const tile::TileProgram& program, const TileCase& c,
                      Memory& memory) {
  const KernelPtr kernel = compile_kernel(device, program);
  if (device.shares_host_memory()) {
    kernel->launch(memory.bindings, c.scalars, c.grid, 0);
    return;
  }
  DeviceMemoryBlocks there(device, memory);
  kernel->launch(there.bindings(), c.scalars, c.grid, 0);
  there.fetch();
}

// Buffers start `shift` bytes after a multiple of 16.
inline void expect_agrees(Device& device, const TileCase& c, const tile::Mapping& mapping,
                          std::size_t shift = 0) {
  SCOPED_TRACE(fmt::format(
      "{} with {} threads, {} a row, vectors of {}, clusters of {}, {} bytes "
      "off",
      c.name, mapping.threads, mapping.threads_per_row, mapping.vector, mapping.cluster, shift));
  Memory actual(c, shift);
  Memory oracle(c);
  tile::interpret(c.program, oracle.bindings, c.scalars, 0, c.grid);
  tile::TileProgram program = c.program;
  program.mapping = mapping;
  try {
    launch_on(device, program, c, actual);
  } catch (const Error& error) {
    FAIL() << error.what();
  }
  for (std::size_t i = 0; i < c.buffers.size(); ++i) expect_same(c, i, actual, oracle);
}

inline const std::vector<tile::Mapping>& test_mappings() {
  static const std::vector<tile::Mapping> mappings = {
      {.threads = 32, .threads_per_row = 1, .vector = 1, .cluster = 1, .wide_index = true},
      {.threads = 64, .threads_per_row = 8, .vector = 4, .cluster = 1, .wide_index = false},
      {.threads = 96, .threads_per_row = 32, .vector = 2, .cluster = 1, .wide_index = true},
      {.threads = 256, .threads_per_row = 256, .vector = 8, .cluster = 1, .wide_index = false},
      {.threads = 1024, .threads_per_row = 1024, .vector = 1, .cluster = 1, .wide_index = true},
      {.threads = 64, .threads_per_row = 64, .vector = 1, .cluster = 2, .wide_index = true},
      {.threads = 64, .threads_per_row = 32, .vector = 4, .cluster = 8, .wide_index = false},
      {.threads = 64, .threads_per_row = 32, .vector = 4, .prefetch = 1, .wide_index = false},
      {.threads = 128, .threads_per_row = 64, .vector = 8, .prefetch = 3, .late_loads = true},
      {.threads = 64, .threads_per_row = 64, .vector = 4, .cluster = 2, .prefetch = 2},
  };
  return mappings;
}

inline bool has_loop(const tile::TileProgram& program) {
  return std::any_of(program.body.begin(), program.body.end(),
                     [](const tile::Instr& instr) { return instr.code == tile::Code::loop; });
}

// Tests `count` of the mappings, chosen by the case; every second one with unaligned buffers.
inline void expect_agrees_with_mappings(Device& device, const TileCase& c, std::size_t count) {
  const bool fits = std::all_of(c.scalars.begin(), c.scalars.end(),
                                [](std::int64_t x) { return x == static_cast<std::int32_t>(x); });
  const std::vector<tile::Mapping>& mappings = test_mappings();
  const std::size_t first = c.name.size() + static_cast<unsigned char>(c.name.back());
  for (std::size_t i = 0; i < count; ++i) {
    tile::Mapping mapping = mappings[(first + i * 3) % mappings.size()];
    mapping.wide_index = mapping.wide_index || !fits;
    if (has_loop(c.program)) mapping.prefetch = 0;
    expect_agrees(device, c, mapping, i % 2 == 0 ? 0 : 8);
    if (count == mappings.size()) expect_agrees(device, c, mapping, i % 2 == 0 ? 8 : 0);
  }
}

}  // namespace sinter
