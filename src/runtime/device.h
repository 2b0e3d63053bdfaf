// Device: compiles and runs kernels. In: a KernelSource. Out: a CompiledKernel; buffers come from
// the device's pool. The CPU is always available; other devices are found at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/base/machine.h"
#include "src/codegen/render.h"
#include "src/runtime/allocator_hook.h"
#include "src/runtime/compiled_kernel.h"
#include "src/runtime/kernel_cache.h"
#include "src/runtime/stopwatch.h"
#include "src/tile/kernel_body.h"

namespace sinter {

// A block of device memory. The destructor returns it to its pool.
class Storage {
 public:
  virtual ~Storage() = default;
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

  // Called before the calling thread submits work that uses this memory. A pool with one stream per
  // thread does not reuse the memory until that work is done.
  virtual void note_use() {}

 protected:
  Storage(void* data, std::size_t bytes) : data_(data), bytes_(bytes) {}

 private:
  void* data_;
  std::size_t bytes_;
};
using StoragePtr = std::shared_ptr<Storage>;

// One launch of a LaunchGraph; its buffers are given when the graph is launched.
struct GraphStep {
  KernelPtr kernel;
  std::size_t buffers = 0;
  std::span<const std::int64_t> scalars;
  std::int64_t grid = 0;
};

// Several launches submitted as one. Thread-safe.
class LaunchGraph {
 public:
  virtual ~LaunchGraph() = default;
  // `buffers`: those of the first step, then those of the second, ... Likewise `scalars`; if empty,
  // the graph keeps the scalars it was created with.
  virtual void launch(std::span<const tile::BufferBinding> buffers,
                      std::span<const std::int64_t> scalars) = 0;
};

struct MemoryStats {
  std::size_t in_use = 0;
  std::size_t peak = 0;    // of in_use, since reset_peak()
  std::size_t cached = 0;  // free, kept mapped for later allocations
};

// A library call that is ready to launch.
struct LibraryKernel {
  KernelPtr kernel;     // null: the library cannot compute it
  std::string refusal;  // why not
};

class Device {
 public:
  virtual ~Device() = default;

  virtual std::string name() const = 0;                        // "cpu"
  virtual std::string description() const = 0;                 // one line for people
  virtual std::string model() const { return name(); }         // key of tuned configs
  virtual std::string compiler_version() const { return ""; }  // of the kernel compiler
  virtual int parallelism() const = 0;                         // workers a kernel can keep busy
  virtual Machine machine() const = 0;                         // for the heuristics

  // Bytes per second of a large parallel copy (read + written), measured once.
  virtual double copy_bandwidth() = 0;
  // f32 FLOP/s of multiply-adds in registers on all cores (two each), measured once. Nullopt if
  // there is no compiler.
  virtual std::optional<double> peak_flops() = 0;

  virtual StoragePtr allocate(std::size_t bytes) = 0;  // DeviceError when out of memory
  // Null: the device's own pool. UserError if the device supports no other.
  virtual void set_allocator(const AllocatorPtr&) { fail_fixed_allocator(name()); }
  virtual MemoryStats memory() const = 0;
  virtual void reset_peak() = 0;
  virtual void release_cached() = 0;
  virtual std::size_t available_memory() const = 0;  // approximate free bytes

  // Whether the host can read and write the device's memory. If not, it is copied.
  virtual bool shares_host_memory() const = 0;
  // Copies between device and host memory, ordered after earlier launches. Returns when the host
  // may reuse its buffer.
  virtual void copy_from_host(void* to, const void* from, std::size_t bytes) = 0;
  virtual void copy_to_host(void* to, const void* from, std::size_t bytes) = 0;
  // Copies within the device, ordered with launches. May return before the copy is done.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  virtual void synchronize() = 0;  // waits for all submitted work
  // Times work on this device.
  virtual std::unique_ptr<Stopwatch> stopwatch() = 0;

  // The target that kernels for this device are rendered for, and a kernel's source.
  virtual RenderTarget render_target() const = 0;
  virtual KernelSource render(const tile::TileProgram& program) const {
    return sinter::render(program, render_target());
  }

  // False if compile() cannot return a kernel: no compiler, and no kernels cached on disk.
  virtual bool can_compile() const { return true; }
  // Loads the kernel from the disk cache or compiles it. Null if it is not cached and there is no
  // compiler. compile_kernel() adds the cache in memory. Thread-safe.
  virtual KernelPtr compile(const KernelSource& source) = 0;
  // Loads the library on first use, which takes time; machine() therefore does not include it.
  virtual MatmulLibrary matmul_library() { return MatmulLibrary::none; }
  // A kernel that calls that library, or why there is none.
  virtual LibraryKernel library_kernel(const LibraryMatmul&) {
    return {nullptr, name() + " has no library for matrix products"};
  }
  // Runs a program without compiling it, slowly; null if the device cannot.
  virtual KernelPtr interpret(const tile::TileProgram&) { return nullptr; }
  // Compiles many kernels in one batch, faster than one by one; for tests that compile thousands.
  // Bypasses the disk cache. Empty if unsupported or if a kernel does not compile.
  virtual std::vector<KernelPtr> compile_together(std::span<const KernelSource>) { return {}; }
  // The compiler's output as text (PTX); empty if the device has no such stage.
  virtual std::string assembly(const KernelSource&) { return ""; }

  // Kernels in memory.
  KernelCache& kernels() { return kernels_; }
  // The body is unlikely to be needed again: its kernel may be unloaded once unreferenced.
  virtual void forget(const KernelBody& body) noexcept { kernels_.drop_if_unused(key_of(body)); }

  // Takes compiled kernels of this device. Null if the device has no launch graphs or a kernel
  // cannot be captured (CompiledKernel::fits_launch_graph()).
  virtual std::unique_ptr<LaunchGraph> make_launch_graph(std::span<const GraphStep>) {
    return nullptr;
  }

 private:
  KernelCache kernels_;
};

}  // namespace sinter
