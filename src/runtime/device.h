// Device: compiles and runs kernels. A KernelSource goes in, a CompiledKernel comes out; buffers
// come from the device's pool. The CPU is always there; others are found at run time.
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

// A piece of device memory. Gives itself back to its pool.
class Storage {
 public:
  virtual ~Storage() = default;
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

  // Tells the memory that the calling thread's work reads it: a pool whose threads have queues of
  // their own gives it to nobody before that work is done. Called before each such piece of work.
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

// Launches that a device takes as one. Safe from many threads.
class LaunchGraph {
 public:
  virtual ~LaunchGraph() = default;
  // `buffers`: those of the first step, then those of the second, ... Likewise `scalars`; if there
  // are none, those the graph was made with.
  virtual void launch(std::span<const tile::BufferBinding> buffers,
                      std::span<const std::int64_t> scalars) = 0;
};

struct MemoryStats {
  std::size_t in_use = 0;
  std::size_t peak = 0;    // of in_use, since reset_peak()
  std::size_t cached = 0;  // kept mapped for the next allocation
};

class Device {
 public:
  virtual ~Device() = default;

  virtual std::string name() const = 0;                        // "cpu"
  virtual std::string description() const = 0;                 // one line for people
  virtual std::string model() const { return name(); }         // what tuned configs are kept for
  virtual std::string compiler_version() const { return ""; }  // of what compiles kernels
  virtual int parallelism() const = 0;                         // workers a kernel can keep busy
  virtual Machine machine() const = 0;                         // for the heuristics

  // Bytes a second of a large parallel copy (read + written), measured once.
  virtual double copy_bandwidth() = 0;
  // Operations a second of f32 multiply-adds in registers (two each), all cores, measured once.
  // None where nothing can be compiled.
  virtual std::optional<double> peak_flops() = 0;

  virtual StoragePtr allocate(std::size_t bytes) = 0;  // DeviceError when there is no more
  // Null: the device's own pool. UserError if it always uses that.
  virtual void set_allocator(AllocatorPtr) { fail_fixed_allocator(name()); }
  virtual MemoryStats memory() const = 0;
  virtual void reset_peak() = 0;
  virtual void release_cached() = 0;
  virtual std::size_t available_memory() const = 0;  // what could be allocated now, about

  // Whether the host can read and write the device's memory. If not, it is copied.
  virtual bool shares_host_memory() const = 0;
  // Between the device's memory and the host's, after what was launched before; back when the host
  // may use its side again.
  virtual void copy_from_host(void* to, const void* from, std::size_t bytes) = 0;
  virtual void copy_to_host(void* to, const void* from, std::size_t bytes) = 0;
  // Within the device, in turn with what is launched; may return before it is done.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  virtual void synchronize() = 0;  // returns when all that was launched has run
  // Times what runs on this device.
  virtual std::unique_ptr<Stopwatch> stopwatch() = 0;

  // What kernels for this device are rendered for, and the source of one.
  virtual RenderTarget render_target() const = 0;
  virtual KernelSource render(const tile::TileProgram& program) const {
    return sinter::render(program, render_target());
  }

  // False if compile() would find nothing: there is no compiler, and no kernels of an earlier one.
  virtual bool can_compile() const { return true; }
  // From disk or by the compiler. Null if there is no compiler and the kernel is not on disk.
  // compile_kernel() keeps kernels in memory. Thread-safe.
  virtual KernelPtr compile(const KernelSource& source) = 0;
  // Loaded when first asked for, which takes time: machine() does not say it.
  virtual MatmulLibrary matmul_library() { return MatmulLibrary::none; }
  // A call of that library; null if there is none.
  virtual KernelPtr library_kernel(const LibraryMatmul&) { return nullptr; }
  // Runs a program without compiling it, slowly; null if the device cannot.
  virtual KernelPtr interpret(const tile::TileProgram&) { return nullptr; }
  // Compiles many at once, in less time than one by one, for tests that compile thousands. Nothing
  // is kept on disk. Empty if the device cannot, or if one of them does not compile.
  virtual std::vector<KernelPtr> compile_together(std::span<const KernelSource>) { return {}; }
  // The compiler's output as text (PTX); empty if the device has no such stage.
  virtual std::string assembly(const KernelSource&) { return ""; }

  // Kernels in memory.
  KernelCache& kernels() { return kernels_; }
  // The body is unlikely to be needed again: its kernel may be unloaded if nothing holds it.
  virtual void forget(const KernelBody& body) noexcept { kernels_.drop_if_unused(key_of(body)); }

  // The kernels are this device's, compiled. Null if the device has no such graphs or one of the
  // kernels does not fit in (CompiledKernel::fits_launch_graph()).
  virtual std::unique_ptr<LaunchGraph> make_launch_graph(std::span<const GraphStep>) {
    return nullptr;
  }

 private:
  KernelCache kernels_;
};

}  // namespace sinter
