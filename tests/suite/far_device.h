// FarDevice: a stand-in for a GPU made of the CPU, whose memory the host cannot touch. Its
// addresses are those of the CPU's pool with a bit set that no pointer may have, so accessing them
// crashes. Counts copies, and has its own clock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/api/devices.h"
#include "src/runtime/device.h"

namespace sinter::testing_support {

inline constexpr std::uintptr_t kFar = std::uintptr_t{1} << 60;

inline void* far(const void* near) {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(near) + kFar);
}
inline void* near(const void* far) {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(far) - kFar);
}

class FarStorage : public Storage {
 public:
  explicit FarStorage(StoragePtr near) : Storage(far(near->data()), near->bytes()), near_(near) {}

 private:
  StoragePtr near_;
};

class FarKernel : public CompiledKernel {
 public:
  explicit FarKernel(KernelPtr kernel) : kernel_(std::move(kernel)) { stats_ = kernel_->stats(); }

  void launch(std::span<const tile::BufferBinding> buffers, std::span<const std::int64_t> scalars,
              std::int64_t grid, double nanoseconds) const override {
    std::vector<tile::BufferBinding> bound(buffers.begin(), buffers.end());
    for (tile::BufferBinding& each : bound) each.data = near(each.data);
    kernel_->launch(bound, scalars, grid, nanoseconds);
  }

 private:
  KernelPtr kernel_;
};

class FarStopwatch : public Stopwatch {
 public:
  explicit FarStopwatch(std::atomic<int>& samples) : samples_(samples) {}
  double time(const std::function<void()>& run, int calls) override {
    ++samples_;
    return wall_->time(run, calls);
  }
  void wait() override {}
  bool resolves_single_calls() const override { return true; }

 private:
  std::atomic<int>& samples_;
  std::unique_ptr<Stopwatch> wall_ = wall_stopwatch();
};

class FarDevice : public Device {
 public:
  std::string name() const override { return "far"; }
  std::string description() const override { return "a device with memory of its own"; }
  std::string compiler_version() const override { return "its own"; }
  int parallelism() const override { return 2; }
  Machine machine() const override { return cpu_->machine(); }
  double copy_bandwidth() override { return 1e12; }
  std::optional<double> peak_flops() override { return 1e13; }

  StoragePtr allocate(std::size_t bytes) override {
    return std::make_shared<FarStorage>(cpu_->allocate(bytes));
  }
  MemoryStats memory() const override { return cpu_->memory(); }
  void reset_peak() override { cpu_->reset_peak(); }
  void release_cached() override { cpu_->release_cached(); }
  std::size_t available_memory() const override { return available; }

  bool shares_host_memory() const override { return false; }
  void copy_from_host(void* to, const void* from, std::size_t bytes) override {
    note(bytes);
    ++copies_in;
    cpu_->copy_from_host(near(to), from, bytes);
  }
  void copy_to_host(void* to, const void* from, std::size_t bytes) override {
    note(bytes);
    ++copies_out;
    cpu_->copy_to_host(to, near(from), bytes);
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    ++copies_within;
    cpu_->copy(near(to), near(from), bytes);
  }
  void synchronize() override { ++waits; }
  std::unique_ptr<Stopwatch> stopwatch() override {
    return std::make_unique<FarStopwatch>(samples);
  }

  RenderTarget render_target() const override { return cpu_->render_target(); }
  bool can_compile() const override { return cpu_->can_compile(); }
  KernelPtr compile(const KernelSource& source) override {
    const KernelPtr kernel = cpu_->compile(source);
    return kernel ? std::make_shared<FarKernel>(kernel) : nullptr;
  }
  KernelPtr interpret(const tile::TileProgram& program) override {
    return std::make_shared<FarKernel>(cpu_->interpret(program));
  }

  std::atomic<int> copies_in = 0;
  std::atomic<int> copies_out = 0;
  std::atomic<int> copies_within = 0;
  std::atomic<int> waits = 0;
  std::atomic<int> samples = 0;
  std::atomic<std::size_t> largest_copy = 0;  // between host and device
  std::atomic<std::size_t> available = std::size_t{8} << 30;

 private:
  void note(std::size_t bytes) {
    if (bytes > largest_copy) largest_copy = bytes;
  }

  std::shared_ptr<Device> cpu_ = open_device("cpu");
};

}  // namespace sinter::testing_support
