// compile() looks in memory, then asks CudaCompiler. Everything else is forwarded to the pool, the
// streams or the driver.
#include "src/cuda/cuda_device.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "src/base/check.h"
#include "src/base/options.h"
#include "src/cuda/cublaslt_matmul.h"
#include "src/cuda/cuda_graph.h"
#include "src/cuda/cuda_kernel.h"
#include "src/cuda/event_stopwatch.h"
#include "src/cuda/library_paths.h"
#include "src/runtime/registry.h"

namespace sinter {
namespace {

constexpr int kLanesOfMultiprocessor = 128;  // f32, from compute capability 8.6 on; 8.0 has 64

CUdeviceptr address_of(const void* data) { return reinterpret_cast<CUdeviceptr>(data); }

}  // namespace

std::string cuda_device_name(int ordinal) {
  return ordinal == 0 ? "cuda" : fmt::format("cuda:{}", ordinal);
}

CudaDevice::CudaDevice(const CudaDeviceOptions& options)
    : primary_(
          CudaContext::primary(options.driver ? *options.driver : cuda_driver(), options.ordinal)),
      name_(cuda_device_name(options.ordinal)),
      compiler_(std::make_shared<CudaCompiler>(primary_,
                                               options.nvrtc_paths.empty()
                                                   ? Nvrtc::find(primary_->driver().version())
                                                   : Nvrtc::load(options.nvrtc_paths),
                                               options.cache_dir)),
      streams_(std::make_shared<CudaStreams>(primary_)),
      pool_(CudaPool::create(primary_, streams_)),
      cublaslt_paths_(options.cublaslt_paths) {}

std::string CudaDevice::description() const {
  const CudaDeviceDescription& gpu = primary_->description();
  return fmt::format("{}, {} SMs, {} GiB, sm_{}{}, driver {}, NVRTC {}", gpu.name, gpu.sm_count,
                     (gpu.memory_bytes + (std::size_t{1} << 29)) >> 30, gpu.compute_major,
                     gpu.compute_minor, cuda_version_text(primary_->driver().version()),
                     compiler_->nvrtc().version_text());
}

std::string CudaDevice::model() const {
  const CudaDeviceDescription& gpu = primary_->description();
  return fmt::format("{} sm_{}{}", gpu.name, gpu.compute_major, gpu.compute_minor);
}

std::string CudaDevice::compiler_version() const {
  return fmt::format("NVRTC {} for {}", compiler_->nvrtc().version_text(),
                     compiler_->target().architecture);
}

Machine CudaDevice::machine() const {
  const CudaDeviceDescription& gpu = primary_->description();
  Machine machine;
  machine.kind = MachineKind::gpu;
  machine.cache_bytes = static_cast<std::int64_t>(gpu.l2_bytes);
  machine.multiprocessors = gpu.sm_count;
  machine.threads_per_multiprocessor = gpu.threads_per_sm;
  machine.blocks_per_multiprocessor = gpu.blocks_per_sm;
  machine.registers_per_multiprocessor = gpu.registers_per_sm;
  machine.shared_bytes_per_multiprocessor = gpu.shared_bytes_per_sm;
  machine.largest_cluster = primary_->compute() >= 90 ? 8 : 1;
  return machine;
}

double CudaDevice::copy_bandwidth() {
  std::call_once(bandwidth_once_, [&] { bandwidth_ = measure_copy_bandwidth(); });
  return bandwidth_;
}

double CudaDevice::measure_copy_bandwidth() {
  constexpr std::size_t kMost = std::size_t{512} << 20;
  constexpr std::size_t kLeast = std::size_t{1} << 20;
  constexpr int kSamples = 9;
  const std::size_t bytes = std::clamp(available_memory() / 8, kLeast, kMost);
  const StoragePtr from = allocate(bytes);
  const StoragePtr to = allocate(bytes);
  const auto watch = stopwatch();
  const auto run = [&] { copy(to->data(), from->data(), bytes); };
  run();
  std::vector<double> microseconds;
  for (int i = 0; i < kSamples; ++i) microseconds.push_back(watch->time(run, 1));
  std::sort(microseconds.begin(), microseconds.end());
  return 2.0 * static_cast<double>(bytes) / (microseconds[microseconds.size() / 2] * 1e-6);
}

std::optional<double> CudaDevice::peak_flops() {
  int khz = 0;
  primary_->driver().device_get_attribute(&khz, kCudaAttributeClockKhz, primary_->device());
  const int lanes = primary_->compute() == 80 ? 64 : kLanesOfMultiprocessor;
  return 2.0 * parallelism() * lanes * khz * 1e3;
}

// The driver has copied pageable memory when it returns; the wait covers pinned memory.
void CudaDevice::copy_from_host(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  const ContextScope scope(*primary_);
  const CUstream stream = streams_->current();
  primary_->driver().memcpy_htod_async(address_of(to), from, bytes, stream);
  primary_->driver().stream_synchronize(stream);
}

void CudaDevice::copy_to_host(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  const ContextScope scope(*primary_);
  const CUstream stream = streams_->current();
  primary_->driver().memcpy_dtoh_async(to, address_of(from), bytes, stream);
  primary_->driver().stream_synchronize(stream);
}

void CudaDevice::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  const ContextScope scope(*primary_);
  primary_->driver().memcpy_dtod_async(address_of(to), address_of(from), bytes,
                                       streams_->current());
}

std::unique_ptr<Stopwatch> CudaDevice::stopwatch() {
  try {
    return cuda_event_stopwatch(primary_, streams_->current());
  } catch (const OutOfMemoryError&) {
    release_cached();  // the stopwatch needs memory for flushing the L2
    return cuda_event_stopwatch(primary_, streams_->current());
  }
}

KernelPtr CudaDevice::compile(const KernelSource& source) {
  return std::make_shared<CudaKernel>(primary_, streams_, compiler_, source);
}

const LoadedCublasLt& CudaDevice::cublaslt() {
  std::call_once(cublaslt_once_, [&] {
    cublaslt_ = CublasLt::load(cublaslt_paths_.empty()
                                   ? cuda_library_paths("cublasLt", primary_->driver().version())
                                   : cublaslt_paths_,
                               primary_);
  });
  return cublaslt_;
}

MatmulLibrary CudaDevice::matmul_library() {
  return cublaslt().library ? MatmulLibrary::cublaslt : MatmulLibrary::none;
}

LibraryKernel CudaDevice::library_kernel(const LibraryMatmul& call) {
  if (!cublaslt().library) return {nullptr, "there is no cuBLASLt: " + cublaslt().refusal};
  return make_cublaslt_kernel(cublaslt().library, streams_, pool_, call);
}

std::string CudaDevice::assembly(const KernelSource& source) { return compiler_->ptx(source); }

std::unique_ptr<LaunchGraph> CudaDevice::make_launch_graph(std::span<const GraphStep> steps) {
  const auto fits = [](const GraphStep& step) { return step.kernel->fits_launch_graph(); };
  if (!std::all_of(steps.begin(), steps.end(), fits)) return nullptr;
  return make_cuda_graph(primary_, streams_, steps);
}

namespace {

DeviceFactory factory_of(int ordinal) {
  return [ordinal] {
    const Options& environment = environment_options();
    if (environment.cache_dir.empty())
      warn_once("compiled kernels are not kept: HOME is not set; set SINTER_CACHE_DIR");
    CudaDeviceOptions options;
    options.ordinal = ordinal;
    options.cache_dir = environment.cache_dir;
    return std::make_shared<CudaDevice>(options);
  };
}

}  // namespace

void register_cuda_device() { register_device("cuda", factory_of(0)); }

std::string register_cuda_device(const std::string& name) {
  constexpr std::string_view kPrefix = "cuda:";
  if (!name.starts_with(kPrefix)) return name;
  int ordinal = -1;
  const char* end = name.data() + name.size();
  const auto [last, error] = std::from_chars(name.data() + kPrefix.size(), end, ordinal);
  if (error != std::errc() || last != end || ordinal < 0) return name;
  if (ordinal == 0) return "cuda";
  int count = 0;
  cuda_driver().device_get_count(&count);
  if (ordinal < count) register_device(cuda_device_name(ordinal), factory_of(ordinal));
  return cuda_device_name(ordinal);
}

}  // namespace sinter
