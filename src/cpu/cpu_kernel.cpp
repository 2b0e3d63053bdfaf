// Launching: runs on one thread or all of them, depending on the estimated work. Does not allocate.
#include "src/cpu/cpu_kernel.h"

#include <dlfcn.h>

#include <utility>

namespace sinter {
namespace {

// Waking the workers costs 0.3 us if they spin and about 5 us if they sleep.
constexpr double kWorthSharing = 3'000;  // nanoseconds

}  // namespace

std::unique_ptr<LoadedLibrary> LoadedLibrary::load(const std::string& path, std::string& error) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* reason = dlerror();
    error = reason ? reason : "unknown reason";
    return nullptr;
  }
  return std::unique_ptr<LoadedLibrary>(new LoadedLibrary(handle));
}

LoadedLibrary::~LoadedLibrary() { dlclose(handle_); }

void* LoadedLibrary::symbol(const std::string& name) const { return dlsym(handle_, name.c_str()); }

CpuKernel::CpuKernel(std::shared_ptr<const LoadedLibrary> library, KernelEntry entry,
                     std::size_t scratch_bytes, std::shared_ptr<ThreadPool> threads,
                     const CompileStats& stats)
    : library_(std::move(library)),
      entry_(entry),
      scratch_bytes_(scratch_bytes),
      threads_(std::move(threads)) {
  stats_ = stats;
}

void CpuKernel::launch(std::span<const tile::BufferBinding> buffers,
                       std::span<const std::int64_t> scalars, std::int64_t grid,
                       double nanoseconds) const {
  struct Call {
    KernelEntry entry;
    const tile::BufferBinding* buffers;
    const std::int64_t* scalars;
  };
  const Call call{entry_, buffers.data(), scalars.data()};
  const RangeFunction run = [](const void* context, std::int64_t first, std::int64_t last,
                               char* scratch) {
    const Call& it = *static_cast<const Call*>(context);
    it.entry(it.buffers, it.scalars, first, last, scratch);
  };
  if (nanoseconds < kWorthSharing)
    ThreadPool::run_here(grid, scratch_bytes_, run, &call);
  else
    threads_->parallel_for(grid, scratch_bytes_, run, &call);
}

InterpretedKernel::InterpretedKernel(tile::TileProgram program, std::shared_ptr<ThreadPool> threads)
    : program_(std::move(program)), threads_(std::move(threads)) {
  stats_.interpreted = true;
}

// Always multi-threaded: the interpreter is slow whatever the estimate says.
void InterpretedKernel::launch(std::span<const tile::BufferBinding> buffers,
                               std::span<const std::int64_t> scalars, std::int64_t grid,
                               double /*nanoseconds*/) const {
  threads_->parallel_for(grid, 0, [&](std::int64_t first, std::int64_t last, char*) {
    tile::interpret(program_, buffers, scalars, first, last);
  });
}

}  // namespace sinter
