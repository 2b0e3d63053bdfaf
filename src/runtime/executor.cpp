// The warm path: only the pool and the returned handles allocate.
#include "src/runtime/executor.h"

namespace sinter {

namespace {

void take_arena(const Executable& executable, RunMemory& memory) {
  if (executable.arena_bytes > 0)
    memory.arena = executable.device->allocate(static_cast<std::size_t>(executable.arena_bytes));
}

}  // namespace

RunMemory take_memory(const Executable& executable) {
  RunMemory memory;
  memory.results.reserve(executable.new_buffer_bytes.size());
  for (std::int64_t bytes : executable.new_buffer_bytes)
    memory.results.push_back(executable.device->allocate(static_cast<std::size_t>(bytes)));
  take_arena(executable, memory);
  return memory;
}

void find_slots(const Executable& executable, std::span<const InputBinding> inputs,
                const RunMemory& memory, ById<SlotId, std::byte*>& bases) {
  bases.clear();
  for (const BufferSlot& slot : executable.slots) {
    void* base = nullptr;
    switch (slot.kind) {
      case BufferSlot::Kind::input:
        base = inputs[static_cast<std::size_t>(slot.index)].data;
        break;
      case BufferSlot::Kind::output:
        base = memory.given.empty() ? memory.results[slot.index]->data()
                                    : memory.given[static_cast<std::size_t>(slot.index)];
        break;
      case BufferSlot::Kind::intermediate:  // 0 bytes if there is no arena
        if (memory.arena) base = static_cast<std::byte*>(memory.arena->data()) + slot.offset;
        break;
    }
    bases.push_back(static_cast<std::byte*>(base));
  }
}

void bind_buffers(const Launch& launch, const ById<SlotId, std::byte*>& bases,
                  std::vector<tile::BufferBinding>& bindings) {
  for (const BoundBuffer& buffer : launch.buffers)
    bindings.push_back({bases[buffer.slot] + buffer.byte_offset, buffer.elements});
}

namespace {

// Appends the scalars of all launches, with the given numbers filled in.
void bind_scalars(const Executable& executable, std::span<const std::int64_t> numbers,
                  std::vector<std::int64_t>& scalars) {
  std::size_t next = 0;
  for (LaunchId i = 0; i < executable.launches.end_id(); ++i) {
    const std::size_t first = scalars.size();
    const std::vector<std::int64_t>& fixed = executable.launches[i].scalars;
    scalars.insert(scalars.end(), fixed.begin(), fixed.end());
    for (; next < numbers.size() && executable.numbers[next].launch == i; ++next)
      scalars[first + executable.numbers[next].scalar] = numbers[next];
  }
}

void launch_all(const Executable& executable, std::span<const InputBinding> inputs,
                const RunMemory& memory, std::span<const std::int64_t> numbers) {
  // Kept between calls so that a warm call does not allocate.
  thread_local ById<SlotId, std::byte*> bases;
  thread_local std::vector<tile::BufferBinding> bindings;
  thread_local std::vector<std::int64_t> scalars;
  find_slots(executable, inputs, memory, bases);
  bindings.clear();
  scalars.clear();
  if (!numbers.empty()) bind_scalars(executable, numbers, scalars);
  std::size_t first_scalar = 0;
  for (const Launch& launch : executable.launches) {
    if (!executable.graph) bindings.clear();
    bind_buffers(launch, bases, bindings);
    std::span<const std::int64_t> given = launch.scalars;
    if (!scalars.empty()) given = std::span(scalars).subspan(first_scalar, given.size());
    first_scalar += launch.scalars.size();
    if (!executable.graph) launch.kernel->launch(bindings, given, launch.grid, launch.nanoseconds);
  }
  if (executable.graph) executable.graph->launch(bindings, scalars);
}

}  // namespace

ById<ResultId, StoragePtr> run(const Executable& executable, std::span<const InputBinding> inputs,
                               std::span<const std::int64_t> numbers) {
  RunMemory memory = take_memory(executable);
  launch_all(executable, inputs, memory, numbers);
  return std::move(memory.results);
}

void run_into(const Executable& executable, std::span<void* const> results,
              std::span<const InputBinding> inputs, std::span<const std::int64_t> numbers) {
  RunMemory memory;
  memory.given = results;
  take_arena(executable, memory);
  launch_all(executable, inputs, memory, numbers);
}

}  // namespace sinter
