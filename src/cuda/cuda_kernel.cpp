// Launching: packs the arguments on the stack and calls the driver. No allocation, no lock.
#include "src/cuda/cuda_kernel.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "src/base/check.h"

namespace sinter {
namespace {

constexpr int kPortableCluster = 8;  // supported by every GPU with clusters

}  // namespace

unsigned CudaVariant::blocks(std::int64_t programs) const {
  constexpr std::int64_t kMostBlocks = std::numeric_limits<std::int32_t>::max();
  const std::int64_t clusters =
      mapping.prefetch > 0 ? std::min(programs, clusters_at_once) : programs;
  if (clusters > kMostBlocks / mapping.cluster)
    fail_user("cuda",
              "a kernel of this call needs {} blocks, a GPU takes {} in one launch; call it for "
              "parts of its tensors",
              clusters * mapping.cluster, kMostBlocks);
  return static_cast<unsigned>(clusters * mapping.cluster);
}

CudaKernel::CudaKernel(CudaContextPtr primary, std::shared_ptr<CudaStreams> streams,
                       std::shared_ptr<const CudaCompiler> compiler, KernelSource source)
    : primary_(std::move(primary)),
      streams_(std::move(streams)),
      compiler_(std::move(compiler)),
      source_(std::move(source)) {
  aligned_ = compile_variant(source_, stats_);
}

std::unique_ptr<const CudaVariant> CudaKernel::compile_variant(const KernelSource& source,
                                                               CompileStats& stats) const {
  auto variant = std::make_unique<CudaVariant>();
  variant->mapping = source.mapping;
  variant->words = static_cast<std::size_t>(source.words);
  variant->divisors = source.divisors;
  variant->fetch_bytes = source.fetch_bytes;
  variant->alignments = source.alignments;
  variant->function = compiler_->compile(source, stats);
  if (source.mapping.cluster > kPortableCluster) {
    const ContextScope scope(*primary_);
    primary_->driver().func_set_attribute(variant->function->handle(), kCudaFunctionLargeClusters,
                                          1);
  }
  if (source.mapping.prefetch > 0) prepare_fetching(*variant);
  return variant;
}

// Launches as many clusters as fit at once, so that each gets an equal share of the programs.
void CudaKernel::prepare_fetching(CudaVariant& variant) const {
  const ContextScope scope(*primary_);
  const CudaDriver& driver = primary_->driver();
  const CUfunction function = variant.function->handle();
  driver.func_set_attribute(function, kCudaFunctionDynamicSharedBytes, variant.fetch_bytes);
  const int threads = variant.mapping.threads;
  int count = 0;
  if (variant.mapping.cluster == 1) {
    driver.occupancy_max_active_blocks(&count, function, threads,
                                       static_cast<std::size_t>(variant.fetch_bytes));
    variant.clusters_at_once = std::int64_t{count} * primary_->description().sm_count;
  } else {
    CudaLaunchAttribute attribute;
    attribute.id = kCudaLaunchClusterDimension;
    attribute.cluster = {static_cast<unsigned>(variant.mapping.cluster), 1, 1};
    CudaLaunchConfig config;
    config.grid_x = static_cast<unsigned>(variant.mapping.cluster);
    config.block_x = static_cast<unsigned>(threads);
    config.shared_bytes = static_cast<unsigned>(variant.fetch_bytes);
    config.attributes = &attribute;
    config.attribute_count = 1;
    driver.occupancy_max_active_clusters(&count, function, &config);
    variant.clusters_at_once = count;
  }
  variant.clusters_at_once = std::max<std::int64_t>(1, variant.clusters_at_once);
}

const CudaVariant& CudaKernel::variant_for(std::span<const tile::BufferBinding> buffers) const {
  std::uintptr_t bits = 0;
  for (std::size_t i = 0; i < buffers.size(); ++i)
    bits |= reinterpret_cast<std::uintptr_t>(buffers[i].data) & (aligned_->alignments[i] - 1u);
  if (bits == 0) return *aligned_;
  const CudaVariant* variant = unaligned_.load(std::memory_order_acquire);
  return variant ? *variant : unaligned_variant();
}

const CudaVariant& CudaKernel::unaligned_variant() const {
  const std::lock_guard lock(unaligned_mutex_);
  if (!unaligned_owner_) {
    CompileStats stats;  // the kernel reports those of its first compilation
    unaligned_owner_ = compile_variant(unaligned(source_), stats);
    unaligned_.store(unaligned_owner_.get(), std::memory_order_release);
  }
  return *unaligned_owner_;
}

void CudaKernel::launch(std::span<const tile::BufferBinding> buffers,
                        std::span<const std::int64_t> scalars, std::int64_t grid,
                        double /*nanoseconds*/) const {
  if (grid <= 0) return;
  const CudaVariant& variant = variant_for(buffers);
  GpuWords words;  // NOLINT: unwritten words are not read
  const std::size_t count = pack_gpu_words(buffers, scalars, grid, variant.divisors, words);
  SINTER_ASSERT(count == variant.words, "{} has {} words, its text {}", source_.name, count,
                variant.words);
  const ContextScope scope(*primary_);
  launch_on(streams_->current(), variant, words, grid, can_overlap());
}

void CudaKernel::launch_on(CUstream stream, const CudaVariant& variant, GpuWords& words,
                           std::int64_t grid, bool programmatic) const {
  CudaLaunchAttribute attributes[2];
  CudaLaunchConfig config;
  config.grid_x = variant.blocks(grid);
  config.shared_bytes = static_cast<unsigned>(variant.fetch_bytes);
  config.block_x = static_cast<unsigned>(variant.mapping.threads);
  config.stream = stream;
  config.attributes = attributes;
  if (variant.mapping.cluster > 1) {
    CudaLaunchAttribute& attribute = attributes[config.attribute_count++];
    attribute.id = kCudaLaunchClusterDimension;
    attribute.cluster = {static_cast<unsigned>(variant.mapping.cluster), 1, 1};
  }
  if (programmatic) {
    CudaLaunchAttribute& attribute = attributes[config.attribute_count++];
    attribute.id = kCudaLaunchProgrammaticSerialization;
    attribute.programmatic_serialization = 1;
  }
  void* params[] = {words.data()};
  primary_->driver().launch_kernel_ex(&config, variant.function->handle(), params, nullptr);
}

}  // namespace sinter
