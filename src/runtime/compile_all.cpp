// One program is one work item.
#include "src/runtime/compile_all.h"

#include "src/base/processors.h"
#include "src/runtime/in_parallel.h"

namespace sinter {

std::vector<KernelPtr> compile_all(std::span<const tile::TileProgram* const> programs,
                                   const CompileOne& compile) {
  std::vector<KernelPtr> kernels(programs.size());
  const int threads = programs.size() > 1 ? available_cpus() : 1;
  in_parallel(programs.size(), static_cast<std::size_t>(threads),
              [&](std::size_t i) { kernels[i] = compile(*programs[i]); });
  return kernels;
}

}  // namespace sinter
