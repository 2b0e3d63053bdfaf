// The warm path: nothing here allocates but the pool and the returned handles.
#include "src/runtime/executor.h"

namespace sinter {

std::vector<StoragePtr> run(const Executable& executable, std::span<const InputBinding> inputs) {
  std::vector<StoragePtr> results;
  results.reserve(executable.new_buffer_bytes.size());
  for (std::int64_t bytes : executable.new_buffer_bytes)
    results.push_back(executable.device->allocate(static_cast<std::size_t>(bytes)));
  StoragePtr arena;
  if (executable.arena_bytes > 0)
    arena = executable.device->allocate(static_cast<std::size_t>(executable.arena_bytes));

  // Kept between calls so that a warm call does not allocate.
  thread_local std::vector<std::byte*> bases;
  thread_local std::vector<tile::BufferBinding> bindings;
  bases.clear();
  for (const BufferSlot& slot : executable.slots) {
    void* base = nullptr;
    switch (slot.kind) {
      case BufferSlot::Kind::input:
        base = inputs[static_cast<std::size_t>(slot.index)].data;
        break;
      case BufferSlot::Kind::output:
        base = results[static_cast<std::size_t>(slot.index)]->data();
        break;
      case BufferSlot::Kind::intermediate:
        if (arena) base = static_cast<std::byte*>(arena->data()) + slot.offset;  // else: 0 bytes
        break;
    }
    bases.push_back(static_cast<std::byte*>(base));
  }
  bindings.clear();
  for (const Launch& launch : executable.launches) {
    if (!executable.graph) bindings.clear();
    for (const BoundBuffer& buffer : launch.buffers)
      bindings.push_back(
          {bases[static_cast<std::size_t>(buffer.slot)] + buffer.byte_offset, buffer.elements});
    if (!executable.graph)
      launch.kernel->launch(bindings, launch.scalars, launch.grid, launch.nanoseconds);
  }
  if (executable.graph) executable.graph->launch(bindings);
  return results;
}

}  // namespace sinter
