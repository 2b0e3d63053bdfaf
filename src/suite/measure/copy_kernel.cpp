// Launches the kernel directly: the executor would allocate a new result for each run.
#include "src/suite/measure/copy_kernel.h"

#include <array>

#include "src/base/check.h"
#include "src/graph/builder.h"

namespace sinter::suite {
namespace {

Graph copy_graph(std::int64_t elements) {
  Graph graph;
  GraphBuilder build(graph);
  graph.outputs = {build.copy(build.input(DType::f32, {elements}))};
  return graph;
}

}  // namespace

CopyKernel::CopyKernel(std::size_t bytes, const std::shared_ptr<Device>& device) : bytes_(bytes) {
  const auto elements = static_cast<std::int64_t>(bytes / size_of(DType::f32));
  const std::array<std::int64_t, 1> extents{elements};
  program_ = build_program(copy_graph(elements), extents, {}, device);
  SINTER_ASSERT(program_->executable.launches.size() == 1, "a copy of {} kernels",
                program_->executable.launches.size());
}

void CopyKernel::launch(void* from, void* to) const {
  const Executable& executable = program_->executable;
  const Launch& only = executable.launches.front();
  std::vector<tile::BufferBinding> bindings;
  for (const BoundBuffer& bound : only.buffers) {
    const bool is_input = executable.slots[bound.slot].kind == BufferSlot::Kind::input;
    bindings.push_back(
        {static_cast<std::byte*>(is_input ? from : to) + bound.byte_offset, bound.elements});
  }
  only.kernel->launch(bindings, only.scalars, only.grid, only.nanoseconds);
}

}  // namespace sinter::suite
