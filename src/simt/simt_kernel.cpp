// Launching: packs the arguments, then spreads the clusters over host threads.
#include "src/simt/simt_kernel.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>

#include "src/base/check.h"
#include "src/runtime/gpu_argument.h"
#include "src/simt/cluster_run.h"

namespace sinter {
namespace {

// For persistent kernels: few, so that each has several programs to run.
constexpr std::int64_t kPersistentClusters = 3;

bool is_aligned(const tile::BufferBinding& buffer, std::uint8_t alignment) {
  return reinterpret_cast<std::uintptr_t>(buffer.data) % alignment == 0;
}

// Throws the error of the first failing cluster, independent of the number of workers.
void run_clusters(const SimtLaunch& launch, std::int64_t clusters, ThreadPool& workers) {
  std::mutex mutex;
  std::atomic<std::int64_t> wrong = clusters;
  std::exception_ptr error;
  workers.parallel_for(clusters, 0, [&](std::int64_t first, std::int64_t last, char*) {
    ClusterRun run(launch);
    for (std::int64_t cluster = first; cluster < std::min(last, wrong.load()); ++cluster) {
      try {
        run.run(cluster);
      } catch (const Error&) {
        const std::lock_guard lock(mutex);
        if (cluster < wrong) error = std::current_exception();
        wrong = std::min(cluster, wrong.load());
      }
    }
  });
  if (error) std::rethrow_exception(error);
}

}  // namespace

SimtKernel::SimtKernel(std::shared_ptr<const LoadedLibrary> library, const SimtSymbols& symbols,
                       KernelSource source, std::shared_ptr<ThreadPool> workers,
                       std::function<KernelPtr()> make_unaligned, const CompileStats& stats)
    : library_(std::move(library)),
      source_(std::move(source)),
      workers_(std::move(workers)),
      make_unaligned_(std::move(make_unaligned)),
      // dlsym returns data pointers; POSIX guarantees that they can be called.
      entry_(reinterpret_cast<decltype(entry_)>(library_->symbol(symbols.entry))),
      place_(reinterpret_cast<decltype(place_)>(library_->symbol(symbols.place))) {
  stats_ = stats;
  SINTER_ASSERT(entry_ && place_, "kernel {} lacks its symbols", source_.entry);
}

const CompiledKernel& SimtKernel::unaligned_kernel() const {
  std::call_once(unaligned_once_, [&] { unaligned_ = make_unaligned_(); });
  return *unaligned_;
}

void SimtKernel::launch(std::span<const tile::BufferBinding> buffers,
                        std::span<const std::int64_t> scalars, std::int64_t grid,
                        double nanoseconds) const {
  if (make_unaligned_ &&
      !std::equal(buffers.begin(), buffers.end(), source_.alignments.begin(), is_aligned))
    return unaligned_kernel().launch(buffers, scalars, grid, nanoseconds);
  GpuWords words;  // NOLINT: unwritten words are not read
  const std::size_t count = pack_gpu_words(buffers, scalars, grid, source_.divisors, words);
  SINTER_ASSERT(static_cast<int>(count) == source_.words, "kernel {} takes {} words, is given {}",
                source_.entry, source_.words, count);
  std::vector<long long> elements;
  for (const tile::BufferBinding& buffer : buffers) elements.push_back(buffer.elements);

  SimtLaunch launch;
  launch.kernel = source_.entry;
  launch.text = &source_.body;
  launch.entry = entry_;
  launch.place = place_;
  launch.words = words.data();
  launch.elements = elements.data();
  launch.threads = source_.mapping.threads;
  launch.cluster = source_.mapping.cluster;
  launch.clusters = source_.mapping.prefetch > 0 ? std::min(grid, kPersistentClusters) : grid;
  run_clusters(launch, launch.clusters, *workers_);
}

}  // namespace sinter
