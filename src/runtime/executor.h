// Executable: a planned and compiled program for inputs of one signature. run() binds the inputs,
// takes memory for results and intermediates from the device's pool, and launches the kernels.
#pragma once

#include <sinter/dtype.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/base/view.h"
#include "src/runtime/device.h"

namespace sinter {

// Where a buffer's memory comes from.
struct BufferSlot {
  enum class Kind : std::uint8_t { input, output, intermediate };
  Kind kind = Kind::input;
  int index = 0;            // input: which; output: which new buffer
  std::int64_t offset = 0;  // intermediate: in the arena, in bytes
};

struct BoundBuffer {
  int slot = 0;
  std::int64_t byte_offset = 0;
  std::int64_t elements = 0;  // that the kernel may touch from there on
};

struct Launch {
  KernelPtr kernel;
  std::vector<BoundBuffer> buffers;
  std::vector<std::int64_t> scalars;
  std::int64_t grid = 0;
  double nanoseconds = 0;  // for one worker, about
};

// A result is a view of a new buffer or of an input.
struct OutputSpec {
  int slot = 0;
  DType dtype = DType::f32;
  View view;
};

struct InputBinding {
  void* data = nullptr;  // the first element
};

// A scalar whose value is given at each run.
struct NumberSlot {
  std::size_t launch = 0;
  std::size_t scalar = 0;  // of the launch
};

struct Executable {
  std::shared_ptr<Device> device;
  std::vector<BufferSlot> slots;
  std::vector<std::int64_t> new_buffer_bytes;  // by output buffer
  std::int64_t arena_bytes = 0;
  std::vector<Launch> launches;
  std::shared_ptr<LaunchGraph> graph;  // all of them as one; null: one by one
  std::vector<OutputSpec> outputs;
  std::vector<NumberSlot> numbers;
};

// The parts of run(), for who launches the kernels one by one.

// What a run needs besides its inputs.
struct RunMemory {
  std::vector<StoragePtr> results;  // in the order of new_buffer_bytes
  StoragePtr arena;                 // null: nothing is intermediate
};
RunMemory take_memory(const Executable& executable);

// Where each slot's buffer begins.
void find_slots(const Executable& executable, std::span<const InputBinding> inputs,
                const RunMemory& memory, std::vector<std::byte*>& bases);

// Appends where a launch's buffers are.
void bind_buffers(const Launch& launch, std::span<std::byte* const> bases,
                  std::vector<tile::BufferBinding>& bindings);

// The new buffers, in the order of new_buffer_bytes. Allocates from the pool only. `numbers`: the
// scalars for Executable::numbers, f64 by their bits.
std::vector<StoragePtr> run(const Executable& executable, std::span<const InputBinding> inputs,
                            std::span<const std::int64_t> numbers = {});

}  // namespace sinter
