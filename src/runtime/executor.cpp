// The warm path: nothing here allocates but the pool and the returned handles.
#include "src/runtime/executor.h"

namespace sinter {

RunMemory take_memory(const Executable& executable) {
  RunMemory memory;
  memory.results.reserve(executable.new_buffer_bytes.size());
  for (std::int64_t bytes : executable.new_buffer_bytes)
    memory.results.push_back(executable.device->allocate(static_cast<std::size_t>(bytes)));
  if (executable.arena_bytes > 0)
    memory.arena = executable.device->allocate(static_cast<std::size_t>(executable.arena_bytes));
  return memory;
}

void find_slots(const Executable& executable, std::span<const InputBinding> inputs,
                const RunMemory& memory, std::vector<std::byte*>& bases) {
  bases.clear();
  for (const BufferSlot& slot : executable.slots) {
    void* base = nullptr;
    switch (slot.kind) {
      case BufferSlot::Kind::input:
        base = inputs[static_cast<std::size_t>(slot.index)].data;
        break;
      case BufferSlot::Kind::output:
        base = memory.results[static_cast<std::size_t>(slot.index)]->data();
        break;
      case BufferSlot::Kind::intermediate:  // without an arena it has 0 bytes
        if (memory.arena) base = static_cast<std::byte*>(memory.arena->data()) + slot.offset;
        break;
    }
    bases.push_back(static_cast<std::byte*>(base));
  }
}

void bind_buffers(const Launch& launch, std::span<std::byte* const> bases,
                  std::vector<tile::BufferBinding>& bindings) {
  for (const BoundBuffer& buffer : launch.buffers)
    bindings.push_back(
        {bases[static_cast<std::size_t>(buffer.slot)] + buffer.byte_offset, buffer.elements});
}

std::vector<StoragePtr> run(const Executable& executable, std::span<const InputBinding> inputs) {
  RunMemory memory = take_memory(executable);
  // Kept between calls so that a warm call does not allocate.
  thread_local std::vector<std::byte*> bases;
  thread_local std::vector<tile::BufferBinding> bindings;
  find_slots(executable, inputs, memory, bases);
  bindings.clear();
  for (const Launch& launch : executable.launches) {
    if (!executable.graph) bindings.clear();
    bind_buffers(launch, bases, bindings);
    if (!executable.graph)
      launch.kernel->launch(bindings, launch.scalars, launch.grid, launch.nanoseconds);
  }
  if (executable.graph) executable.graph->launch(bindings);
  return std::move(memory.results);
}

}  // namespace sinter
