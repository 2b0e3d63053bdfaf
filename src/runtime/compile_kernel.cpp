// Kernel cache lookup, then render and compile.
#include "src/runtime/compile_kernel.h"

#include <utility>

#include "src/base/check.h"
#include "src/base/processors.h"
#include "src/runtime/in_parallel.h"

namespace sinter {

KernelPtr compile_kernel(Device& device, const tile::TileProgram& program) {
  return device.kernels().get(key_of(program), [&]() -> KernelPtr {
    if (device.can_compile())
      if (KernelPtr kernel = device.compile(device.render(program))) return kernel;
    KernelPtr kernel = device.interpret(program);
    SINTER_ASSERT(kernel, "{} neither compiles nor interprets {}", device.name(), program.name);
    return kernel;
  });
}

LibraryKernel library_kernel(Device& device, const LibraryMatmul& call) {
  const Hash128 key = key_of(call);
  if (KernelPtr kernel = device.kernels().find(key)) return {std::move(kernel), ""};
  LibraryKernel prepared = device.library_kernel(call);
  if (prepared.kernel)  // that of the first thread, if several prepared it
    prepared.kernel = device.kernels().get(key, [&] { return prepared.kernel; });
  return prepared;
}

KernelPtr compile_kernel(Device& device, const KernelBody& body) {
  if (const tile::TileProgram* program = tile_program(body))
    return compile_kernel(device, *program);
  LibraryKernel prepared = library_kernel(device, std::get<LibraryMatmul>(body));
  if (!prepared.kernel) throw DeviceError(prepared.refusal, "library_kernel", 0);
  return std::move(prepared.kernel);
}

std::string source_text(const Device& device, const KernelBody& body) {
  const tile::TileProgram* program = tile_program(body);
  return program ? to_string(device.render(*program)) : to_string(body);
}

std::vector<KernelPtr> compile_kernels(Device& device, std::span<const KernelBody* const> bodies) {
  std::vector<KernelPtr> kernels;
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    kernels.push_back(device.kernels().find(key_of(*bodies[i])));
    if (!kernels.back()) missing.push_back(i);
  }
  if (missing.empty()) return kernels;  // warm: does not query the thread count
  const int threads = missing.size() > 1 ? available_cpus() : 1;
  in_parallel(missing.size(), static_cast<std::size_t>(threads), [&](std::size_t i) {
    kernels[missing[i]] = compile_kernel(device, *bodies[missing[i]]);
  });
  return kernels;
}

void compile_together(Device& device, std::span<const tile::TileProgram* const> programs) {
  if (!device.can_compile()) return;
  std::vector<KernelSource> sources;
  for (const tile::TileProgram* program : programs) sources.push_back(device.render(*program));
  const std::vector<KernelPtr> kernels = device.compile_together(sources);
  for (std::size_t i = 0; i < kernels.size(); ++i)
    device.kernels().get(key_of(*programs[i]), [&] { return kernels[i]; });
}

}  // namespace sinter
