// compile() tries the disk cache, then the compiler.
#include "src/cpu/cpu_device.h"

#include <cstring>
#include <utility>

#include "src/base/check.h"
#include "src/base/elapsed.h"
#include "src/base/processors.h"
#include "src/codegen/joined_source.h"
#include "src/cpu/compiler_record.h"
#include "src/cpu/copy_bandwidth.h"
#include "src/cpu/cpu_info.h"
#include "src/cpu/peak_flops.h"
#include "src/runtime/registry.h"

namespace sinter {
namespace {

// Part of every disk key: increase it when the kernel entry's signature changes.
constexpr std::uint64_t kFormatVersion = 1;

int checked_vector_bytes(int bytes) {
  if (bytes == 0) return native_vector_bytes();
  if (bytes != 16 && bytes != 32 && bytes != 64)
    fail_user("cpu", "vector_bytes is {}, expected 16, 32, 64 or 0", bytes);
  return bytes;
}

// Keeps the compiler from instructions on wider vectors than asked for.
std::vector<std::string> vector_flags(int vector_bytes) {
  if (vector_bytes >= native_vector_bytes()) return {};
  return {vector_bytes == 32 ? "-mno-avx512f" : "-mno-avx"};
}

constexpr char kCost[] =
    "kernels that are not in the cache run in the interpreter, hundreds of times slower";

std::unique_ptr<HostCompiler> find_compiler(const std::string& cxx, int vector_bytes,
                                            const DiskCache& cache) {
  if (cxx == kNoCompiler) return nullptr;
  HostCompilerOptions options;
  options.cxx = cxx;
  options.more_flags = vector_flags(vector_bytes);
  if (!cache.is_private()) options.failed_sources = cache.directory();
  return HostCompiler::find(options);
}

}  // namespace

CpuDeviceOptions cpu_device_options(const Options& options) {
  if (options.vector_bytes > native_vector_bytes())
    fail_user("SINTER_VECTOR_BYTES", "{} was asked for, but this processor's vectors have {} bytes",
              options.vector_bytes, native_vector_bytes());
  return {options.num_threads, options.cache_dir, options.cxx, options.vector_bytes};
}

CpuDevice::CpuDevice(const CpuDeviceOptions& options)
    : vector_bytes_(checked_vector_bytes(options.vector_bytes)),
      has_libmvec_(libmvec_available()),
      cache_bytes_(last_level_cache_bytes()),
      cpu_fingerprint_(cpu_fingerprint()),
      threads_(
          std::make_shared<ThreadPool>(options.threads > 0 ? options.threads : available_cpus())),
      pool_(MemoryPool::create()),
      libraries_(options.cache_dir),
      compiler_(find_compiler(options.cxx, vector_bytes_, libraries_.disk_cache())) {
  if (compiler_) return;
  kept_compilers_ = remembered_compilers(disk_cache(), cpu_fingerprint_);
  why_no_compiler_ =
      options.cxx == kNoCompiler
          ? fmt::format("no C++ compiler is used (SINTER_CXX is none): {}", kCost)
          : fmt::format("no C++ compiler found (looked for {}): {}; install g++ or set SINTER_CXX",
                        HostCompiler::kLookedFor, kCost);
}

std::string CpuDevice::limitation() const {
  if (!compiler_) return why_no_compiler_;
  const std::string refusal = compiler_refusal(*compiler_, &disk_cache());
  if (refusal.empty()) return "";
  return fmt::format(
      "the compiler {} compiles nothing ({}): calls that need a kernel that is not in the cache "
      "fail; set SINTER_CXX to one that works, or to none for the interpreter",
      compiler_->path(), refusal);
}

std::string CpuDevice::compiler_version() const {
  return compiler_ ? compiler_->version() : "none: interpreted";
}

std::string CpuDevice::description() const {
  return fmt::format("{}, {} thread{}, {}-byte vectors, {} MiB cache, {}", cpu_model(),
                     threads_->threads(), threads_->threads() == 1 ? "" : "s", vector_bytes_,
                     last_level_cache_bytes() >> 20,
                     compiler_                 ? "kernels by " + compiler_->path()
                     : kept_compilers_.empty() ? "kernels interpreted"
                                               : "kernels of the cache, others interpreted");
}

Machine CpuDevice::machine() const {
  Machine machine;
  machine.cache_bytes = cache_bytes_;
  return machine;
}

void CpuDevice::copy_from_host(void* to, const void* from, std::size_t bytes) {
  copy(to, from, bytes);
}

void CpuDevice::copy_to_host(void* to, const void* from, std::size_t bytes) {
  copy(to, from, bytes);
}

void CpuDevice::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

double CpuDevice::copy_bandwidth() {
  std::call_once(bandwidth_once_, [&] { bandwidth_ = measure_copy_bandwidth(*threads_); });
  return bandwidth_;
}

std::optional<double> CpuDevice::peak_flops() {
  std::call_once(peak_flops_once_, [&] {
    try {
      const KernelPtr kernel = compile(peak_flops_kernel(vector_bytes_));
      if (!kernel) return;
      peak_flops_ = measure_peak_flops(*kernel, threads_->threads(), vector_bytes_);
      // Only a number for a report; running a kernel reports the error.
    } catch (const CompileError&) {
    } catch (const DeviceError&) {
    }
  });
  return peak_flops_;
}

KernelPtr CpuDevice::interpret(const tile::TileProgram& program) {
  warn_once(why_no_compiler_);
  return std::make_shared<InterpretedKernel>(program, threads_);
}

Hash128 CpuDevice::disk_key(const KernelSource& source, const std::string& compiler) const {
  return Hasher()
      .add(kFormatVersion)
      .add(source.text())
      .add(compiler)
      .add(HostCompiler::flags_text(vector_flags(vector_bytes_)))
      .add(cpu_fingerprint_)
      .finish();
}

KernelPtr CpuDevice::compile(const KernelSource& source) {
  if (!compiler_) return find_kept(source);
  const auto start = std::chrono::steady_clock::now();
  KernelLibraries::Found found =
      libraries_.get(disk_key(source, compiler_->identity()), source.name,
                     [&] { return compiler_->compile(source.text(), source.name); });
  if (!compiler_is_remembered_.exchange(true))
    remember_compiler(disk_cache(), cpu_fingerprint_, compiler_->identity());
  return loaded(std::move(found.library), source, source.entry,
                {milliseconds_since(start), found.from_disk, false});
}

KernelPtr CpuDevice::find_kept(const KernelSource& source) const {
  const auto start = std::chrono::steady_clock::now();
  for (const std::string& compiler : kept_compilers_)
    if (auto found = libraries_.find(disk_key(source, compiler)))
      return loaded(std::move(found->library), source, source.entry,
                    {milliseconds_since(start), true, false});
  return nullptr;
}

KernelPtr CpuDevice::loaded(std::shared_ptr<const LoadedLibrary> library,
                            const KernelSource& source, const std::string& symbol,
                            const CompileStats& stats) const {
  // dlsym returns a data pointer; POSIX guarantees that it can be called.
  const auto entry = reinterpret_cast<KernelEntry>(library->symbol(symbol));
  SINTER_ASSERT(entry, "a kernel has no symbol {}", symbol);
  return std::make_shared<CpuKernel>(std::move(library), entry, source.scratch_bytes, threads_,
                                     stats);
}

std::vector<KernelPtr> CpuDevice::compile_together(std::span<const KernelSource> sources) {
  if (!compiler_) return {};
  std::vector<SourcePart> parts;
  for (const KernelSource& source : sources) parts.push_back({source.text(), {"sn", source.entry}});
  const auto library = libraries_.make_together(*compiler_, join_sources(parts));
  if (!library) return {};
  std::vector<KernelPtr> kernels;
  for (std::size_t i = 0; i < sources.size(); ++i)
    kernels.push_back(loaded(library, sources[i], joined_name(sources[i].entry, i), {}));
  return kernels;
}

std::shared_ptr<CpuDevice> make_cpu_device(const CpuDeviceOptions& options) {
  return std::make_shared<CpuDevice>(options);
}

void register_cpu_device() {
  register_device("cpu", [] {
    const CpuDeviceOptions options = cpu_device_options(environment_options());
    if (options.cache_dir.empty())
      warn_once("compiled kernels are not kept: HOME is not set; set SINTER_CACHE_DIR");
    return make_cpu_device(options);
  });
}

}  // namespace sinter
