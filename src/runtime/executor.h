// Executable: a planned and compiled program for inputs of one signature. run() binds the inputs,
// takes memory for results and intermediates from the device's pool, and launches the kernels.
#pragma once

#include <sinter/dtype.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/base/by_id.h"
#include "src/base/view.h"
#include "src/runtime/device.h"

namespace sinter {

using SlotId = int;
using ResultId = int;
using LaunchId = int;

// Where a buffer's memory comes from.
struct BufferSlot {
  enum class Kind : std::uint8_t { input, output, intermediate };
  Kind kind = Kind::input;
  int index = 0;            // of the input or of the new output buffer
  std::int64_t offset = 0;  // intermediate: byte offset in the arena
};

struct BoundBuffer {
  SlotId slot = 0;
  std::int64_t byte_offset = 0;
  std::int64_t elements = 0;  // accessible from that offset on
};

struct Launch {
  KernelPtr kernel;
  std::string name;  // of the kernel, for display
  std::vector<BoundBuffer> buffers;
  std::vector<std::int64_t> scalars;
  std::vector<DType> scalar_dtypes;  // i64, or f64 for the bits of a double; for display
  std::int64_t grid = 0;
  double nanoseconds = 0;  // estimate for one worker
};

// A result is a view of a new buffer or of an input.
struct OutputSpec {
  SlotId slot = 0;
  DType dtype = DType::f32;
  View view;
  // The view covers the whole buffer, so the caller's memory can replace it.
  bool is_whole_buffer = false;
};

struct InputBinding {
  void* data = nullptr;  // the first element
};

// A launch scalar whose value is passed to each run.
struct NumberSlot {
  LaunchId launch = 0;
  std::size_t scalar = 0;  // of the launch
};

struct Executable {
  std::shared_ptr<Device> device;
  ById<SlotId, BufferSlot> slots;
  ById<ResultId, std::int64_t> new_buffer_bytes;  // by output buffer
  std::int64_t arena_bytes = 0;
  ById<LaunchId, Launch> launches;
  std::shared_ptr<LaunchGraph> graph;  // all launches as one; null: launched one by one
  std::vector<OutputSpec> outputs;
  std::vector<NumberSlot> numbers;
};

// Throws InternalError if a launch, a result or a number refers to a slot or scalar out of range.
void verify(const Executable& executable);
// Lists the buffers with the source of their memory, the launches with arguments, and the results.
std::string to_string(const Executable& executable);

// The parts of run(), for callers that launch the kernels one by one.

// Memory of a run besides its inputs.
struct RunMemory {
  ById<ResultId, StoragePtr> results;  // in the order of new_buffer_bytes
  std::span<void* const> given;  // the caller's memory, used instead of `results` if not empty
  StoragePtr arena;              // null: no intermediates
};
RunMemory take_memory(const Executable& executable);

// Computes the base address of each slot's buffer.
void find_slots(const Executable& executable, std::span<const InputBinding> inputs,
                const RunMemory& memory, ById<SlotId, std::byte*>& bases);

// Appends the addresses of a launch's buffers.
void bind_buffers(const Launch& launch, const ById<SlotId, std::byte*>& bases,
                  std::vector<tile::BufferBinding>& bindings);

// Returns the new buffers in the order of new_buffer_bytes. Allocates only from the pool.
// `numbers`: the scalars for Executable::numbers; f64 values as their bits.
ById<ResultId, StoragePtr> run(const Executable& executable, std::span<const InputBinding> inputs,
                               std::span<const std::int64_t> numbers = {});

// Same, but writes to the caller's memory, in the order of new_buffer_bytes. Allocates only
// intermediates.
void run_into(const Executable& executable, std::span<void* const> results,
              std::span<const InputBinding> inputs, std::span<const std::int64_t> numbers = {});

}  // namespace sinter
