// A copy is a program of one node with the destination's layout; programs are cached like those of
// eager operations.
#include "src/api/copy_into.h"

#include <array>

#include "src/api/call_into.h"
#include "src/base/check.h"

namespace sinter {
namespace {

std::shared_ptr<const TracedProgram> copy_program(std::span<const Tensor> source,
                                                  const GivenOutputs& destination) {
  static ProgramCache& cache = *new ProgramCache(4096);
  const std::shared_ptr<Device>& device = source[0].impl()->device;
  const auto build = [&] {
    auto trace = std::make_shared<Trace>();
    trace->device = device;
    const Tensor traced = trace->add_input(source[0]);
    trace->graph.outputs.push_back(trace->build.copy(trace->operand(traced)));
    BuildOptions options;
    options.outputs = destination.layout();
    return build_traced(*trace, source, options);
  };
  return cache.find_or_build(destination.key(), source, *device, build);
}

}  // namespace

void copy_into(const Tensor& source, const Tensor& destination) {
  const TensorImpl& from = *source.impl();
  const TensorImpl& to = *destination.impl();
  if (source.numel() == 0) return;
  if (is_dense(from.view) && is_dense(to.view)) {
    from.storage->note_use();
    to.storage->note_use();
    const auto bytes = static_cast<std::size_t>(source.numel()) * size_of(from.dtype);
    to.device->copy(to.data(), from.data(), bytes);
    return;
  }
  const GivenOutputs outputs(std::span(&destination, 1), {});
  const auto program = copy_program(std::span(&source, 1), outputs);
  SINTER_ASSERT(writes_directly(*program, outputs), "a copy needs a copy");
  run_traced_into(*program, outputs, std::span(&source, 1));
}

}  // namespace sinter
