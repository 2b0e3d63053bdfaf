// Verifying and printing executables.
#include <bit>
#include <iterator>

#include "src/base/check.h"
#include "src/runtime/executor.h"

namespace sinter {
namespace {

std::string slot_text(const BufferSlot& slot) {
  switch (slot.kind) {
    case BufferSlot::Kind::input:
      return fmt::format("input {}", slot.index);
    case BufferSlot::Kind::output:
      return fmt::format("result buffer {}", slot.index);
    case BufferSlot::Kind::intermediate:
      break;
  }
  return fmt::format("arena + {} bytes", slot.offset);
}

std::string scalars_text(const Launch& launch) {
  std::string text;
  for (std::size_t i = 0; i < launch.scalars.size(); ++i) {
    const std::int64_t word = launch.scalars[i];
    const bool is_real = i < launch.scalar_dtypes.size() && launch.scalar_dtypes[i] == DType::f64;
    text += " " + to_string(is_real ? Scalar::of(std::bit_cast<double>(word)) : Scalar::of(word));
  }
  return text;
}

std::string launch_text(const Launch& launch) {
  std::string text = fmt::format("launch {} over {} programs\n", launch.name, launch.grid);
  for (const BoundBuffer& buffer : launch.buffers)
    text +=
        fmt::format("  buffer ${}{}: {} elements\n", buffer.slot,
                    buffer.byte_offset == 0 ? "" : fmt::format(" + {} bytes", buffer.byte_offset),
                    buffer.elements);
  if (!launch.scalars.empty()) text += fmt::format("  scalars{}\n", scalars_text(launch));
  return text;
}

}  // namespace

void verify(const Executable& executable) {
  const auto check_slot = [&](SlotId slot) {
    SINTER_ASSERT(executable.slots.contains(slot), "there is no slot {}", slot);
  };
  for (const BufferSlot& slot : executable.slots)
    if (slot.kind == BufferSlot::Kind::output)
      SINTER_ASSERT(executable.new_buffer_bytes.contains(slot.index),
                    "there is no result buffer {}", slot.index);
    else if (slot.kind == BufferSlot::Kind::intermediate)
      SINTER_ASSERT(slot.offset >= 0 && slot.offset <= executable.arena_bytes,
                    "a buffer lies outside the arena");
  for (const Launch& launch : executable.launches) {
    SINTER_ASSERT(launch.kernel != nullptr, "a launch has no kernel");
    for (const BoundBuffer& buffer : launch.buffers) check_slot(buffer.slot);
  }
  for (const OutputSpec& output : executable.outputs) check_slot(output.slot);
  for (const NumberSlot& number : executable.numbers)
    SINTER_ASSERT(executable.launches.contains(number.launch) &&
                      number.scalar < executable.launches[number.launch].scalars.size(),
                  "a number is no scalar of a launch");
}

std::string to_string(const Executable& executable) {
  std::string text;
  for (SlotId i = 0; i < executable.slots.end_id(); ++i)
    text += fmt::format("${} = {}\n", i, slot_text(executable.slots[i]));
  for (ResultId i = 0; i < executable.new_buffer_bytes.end_id(); ++i)
    text += fmt::format("result buffer {}: {} bytes\n", i, executable.new_buffer_bytes[i]);
  text += fmt::format("arena: {} bytes\n", executable.arena_bytes);
  for (const Launch& launch : executable.launches) text += launch_text(launch);
  for (const NumberSlot& number : executable.numbers)
    text += fmt::format("given: scalar {} of launch {}\n", number.scalar, number.launch);
  for (const OutputSpec& output : executable.outputs)
    text += fmt::format("return {} ${}{}\n", name_of(output.dtype), output.slot,
                        to_string(output.view));
  return text;
}

}  // namespace sinter
