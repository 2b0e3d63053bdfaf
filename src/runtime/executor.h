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
  int index = 0;            // input: which; output: which new buffer
  std::int64_t offset = 0;  // intermediate: in the arena, in bytes
};

struct BoundBuffer {
  SlotId slot = 0;
  std::int64_t byte_offset = 0;
  std::int64_t elements = 0;  // that the kernel may touch from there on
};

struct Launch {
  KernelPtr kernel;
  std::string name;  // of the kernel, for people
  std::vector<BoundBuffer> buffers;
  std::vector<std::int64_t> scalars;
  std::int64_t grid = 0;
  double nanoseconds = 0;  // an estimate for one worker
};

// A result is a view of a new buffer or of an input.
struct OutputSpec {
  SlotId slot = 0;
  DType dtype = DType::f32;
  View view;
  // The buffer has no other element: the caller's memory can take its place.
  bool is_whole_buffer = false;
};

struct InputBinding {
  void* data = nullptr;  // the first element
};

// A scalar whose value is given at each run.
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
  std::shared_ptr<LaunchGraph> graph;  // all of them as one; null: one by one
  std::vector<OutputSpec> outputs;
  std::vector<NumberSlot> numbers;
};

// Throws InternalError if a launch or result names a slot, or a number a scalar, that is not there.
void verify(const Executable& executable);
// Where each buffer's memory comes from, the launches with their arguments, and the results.
std::string to_string(const Executable& executable);

// The parts of run(), for callers that launch the kernels one by one.

// What a run needs besides its inputs.
struct RunMemory {
  ById<ResultId, StoragePtr> results;  // in the order of new_buffer_bytes
  std::span<void* const> given;        // instead of `results`, the caller's memory; empty: none
  StoragePtr arena;                    // null: nothing is intermediate
};
RunMemory take_memory(const Executable& executable);

// Where each slot's buffer begins.
void find_slots(const Executable& executable, std::span<const InputBinding> inputs,
                const RunMemory& memory, ById<SlotId, std::byte*>& bases);

// Appends where a launch's buffers are.
void bind_buffers(const Launch& launch, const ById<SlotId, std::byte*>& bases,
                  std::vector<tile::BufferBinding>& bindings);

// The new buffers, in the order of new_buffer_bytes. Allocates from the pool only. `numbers`: the
// scalars for Executable::numbers, f64 by their bits.
ById<ResultId, StoragePtr> run(const Executable& executable, std::span<const InputBinding> inputs,
                               std::span<const std::int64_t> numbers = {});

// The same into the caller's memory, given in the order of new_buffer_bytes. Takes memory for
// intermediates only.
void run_into(const Executable& executable, std::span<void* const> results,
              std::span<const InputBinding> inputs, std::span<const std::int64_t> numbers = {});

}  // namespace sinter
