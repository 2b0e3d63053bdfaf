// Compiles the kernel's text, preceded by the executor's interface, with the host compiler and
// debug information.
#include "src/simt/simt_device.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "src/base/atomic_file.h"
#include "src/base/check.h"
#include "src/base/elapsed.h"
#include "src/base/processors.h"
#include "src/codegen/joined_source.h"
#include "src/codegen/kernel_headers.h"
#include "src/cpu/compiler_record.h"
#include "src/cpu/copy_bandwidth.h"
#include "src/cpu/cpu_info.h"
#include "src/cpu/host_compiler.h"
#include "src/cpu/kernel_libraries.h"
#include "src/runtime/registry.h"
#include "src/simt/simt_kernel.h"

namespace sinter {
namespace {

// Part of every disk key: increase it when the interface between kernel and executor changes in a
// way its text does not show.
constexpr std::uint64_t kFormatVersion = 1;

const char* const kPlace = "sn_simt_place";  // defined in kernels/simt/primitives.h

// Fast to compile, and no contraction to FMA except fma(), so that results do not depend on the
// host. GCC 12 takes a float's way to an integer and back for trunc(), which keeps the sign of 0,
// unless it minds traps. If sources are kept, compile for debugging: the user wants to inspect
// variables.
std::vector<std::string> flags_for(const SimtDeviceOptions& options) {
  return {options.sources.empty() ? "-O1" : "-O0", "-g", "-fno-omit-frame-pointer",
          "-ffp-contract=off", "-ftrapping-math"};
}

std::unique_ptr<HostCompiler> find_compiler(const SimtDeviceOptions& asked,
                                            const DiskCache& cache) {
  HostCompilerOptions options;
  options.cxx = asked.cxx;
  options.more_flags = flags_for(asked);
  if (!cache.is_private()) options.failed_sources = cache.directory();
  auto compiler = asked.cxx == kNoCompiler ? nullptr : HostCompiler::find(options);
  if (!compiler)
    throw DeviceError("[simt] kernels need a C++ compiler: install g++ or set SINTER_CXX", "find",
                      ENOENT);
  return compiler;
}

// The kernel with the executor's interface before it, as one text; error messages quote its lines.
KernelSource with_interface(KernelSource source) {
  source.body = std::string(kernel_header("simt/interface.h")) + source.text();
  source.prologue.clear();
  source.headers.clear();
  return source;
}

}  // namespace

SimtDeviceOptions simt_device_options(const Options& options) {
  return {options.num_threads, options.cache_dir, options.cxx, options.simt_sources};
}

class SimtDevice::Builder : public std::enable_shared_from_this<Builder> {
 public:
  Builder(const SimtDeviceOptions& options, std::shared_ptr<ThreadPool> workers)
      : workers_(std::move(workers)),
        sources_(options.sources),
        libraries_(options.cache_dir),
        compiler_(find_compiler(options, libraries_.disk_cache())),
        cpu_fingerprint_(cpu_fingerprint()) {}

  const HostCompiler& compiler() const { return *compiler_; }
  const DiskCache& disk_cache() const { return libraries_.disk_cache(); }

  KernelPtr compile(const KernelSource& source) { return build(source, unaligned_kernel(source)); }

  std::vector<KernelPtr> compile_together(std::span<const KernelSource> sources) {
    std::vector<KernelSource> whole;
    std::vector<SourcePart> parts;
    for (const KernelSource& source : sources) {
      whole.push_back(with_interface(source));
      parts.push_back({whole.back().body, {"sn", "sn_simt_thread", kPlace, source.entry}});
    }
    const auto library = libraries_.make_together(*compiler_, join_sources(parts));
    if (!library) return {};
    std::vector<KernelPtr> kernels;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const SimtSymbols symbols{joined_name(sources[i].entry, i), joined_name(kPlace, i)};
      kernels.push_back(std::make_shared<SimtKernel>(library, symbols, std::move(whole[i]),
                                                     workers_, unaligned_kernel(sources[i]),
                                                     CompileStats{}));
    }
    return kernels;
  }

  KernelPtr build(const KernelSource& given, std::function<KernelPtr()> unaligned) {
    const auto start = std::chrono::steady_clock::now();
    KernelSource source = with_interface(given);
    const std::string compiled = with_path(source);
    const Hash128 key = Hasher()
                            .add(kFormatVersion)
                            .add(compiled)
                            .add(compiler_->identity())
                            .add(compiler_->flags_text())
                            .add(cpu_fingerprint_)
                            .finish();
    KernelLibraries::Found found = libraries_.get(
        key, source.entry, [&] { return compiler_->compile(compiled, source.entry); });
    const SimtSymbols symbols{source.entry, kPlace};
    return std::make_shared<SimtKernel>(
        std::move(found.library), symbols, std::move(source), workers_, std::move(unaligned),
        CompileStats{milliseconds_since(start), found.from_disk, false});
  }

 private:
  std::function<KernelPtr()> unaligned_kernel(const KernelSource& source) {
    return [self = shared_from_this(), source] { return self->build(unaligned(source), {}); };
  }

  // The text for the compiler, with a #line directive if it is saved to a file.
  std::string with_path(const KernelSource& source) const {
    if (sources_.empty()) return source.body;
    make_directory("SINTER_SIMT_SOURCES", sources_);
    const std::string path = fmt::format("{}/{}-{}.cpp", sources_, source.entry,
                                         hash_bytes(source.body).hex().substr(0, 8));
    write_file_atomically("SINTER_SIMT_SOURCES", path, source.body);
    return fmt::format("#line 1 \"{}\"\n{}", path, source.body);
  }

  std::shared_ptr<ThreadPool> workers_;
  const std::string sources_;
  KernelLibraries libraries_;
  std::unique_ptr<HostCompiler> compiler_;
  const std::string cpu_fingerprint_;
};

SimtDevice::SimtDevice(const SimtDeviceOptions& options)
    : workers_(
          std::make_shared<ThreadPool>(options.threads > 0 ? options.threads : available_cpus())),
      pool_(MemoryPool::create("simt")),
      builder_(std::make_shared<Builder>(options, workers_)) {}

SimtDevice::~SimtDevice() = default;

std::string SimtDevice::description() const {
  return fmt::format("GPU kernels on the CPU, checked; {} thread{}, kernels by {}",
                     workers_->threads(), workers_->threads() == 1 ? "" : "s",
                     builder_->compiler().path());
}

std::string SimtDevice::compiler_version() const { return builder_->compiler().version(); }

std::string SimtDevice::limitation() const {
  const std::string refusal = compiler_refusal(builder_->compiler(), &builder_->disk_cache());
  if (refusal.empty()) return "";
  return fmt::format(
      "the compiler {} compiles nothing ({}): calls that need a kernel that is not in the cache "
      "fail; set SINTER_CXX to one that works",
      builder_->compiler().path(), refusal);
}

Machine SimtDevice::machine() const {
  Machine machine;  // an H200 where it differs from the defaults
  machine.kind = MachineKind::gpu;
  machine.cache_bytes = 50 << 20;
  machine.multiprocessors = 132;
  machine.largest_cluster = 8;
  machine.shared_bytes_per_multiprocessor = 228 << 10;
  return machine;
}

double SimtDevice::copy_bandwidth() { return measure_copy_bandwidth(*workers_); }

void SimtDevice::copy_from_host(void* to, const void* from, std::size_t bytes) {
  copy(to, from, bytes);
}

void SimtDevice::copy_to_host(void* to, const void* from, std::size_t bytes) {
  copy(to, from, bytes);
}

void SimtDevice::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

KernelPtr SimtDevice::compile(const KernelSource& source) { return builder_->compile(source); }

std::vector<KernelPtr> SimtDevice::compile_together(std::span<const KernelSource> sources) {
  return builder_->compile_together(sources);
}

KernelPtr SimtDevice::compile_text(const KernelSource& source) {
  return builder_->build(source, {});
}

std::shared_ptr<SimtDevice> make_simt_device(const SimtDeviceOptions& options) {
  return std::make_shared<SimtDevice>(options);
}

void register_simt_device() {
  register_device("simt",
                  [] { return make_simt_device(simt_device_options(environment_options())); });
}

}  // namespace sinter
