// SlowDevice: the CPU's memory and the interpreter, with a compiler scripted by the test. Counts
// compilations, which may run in parallel.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "src/api/devices.h"
#include "src/runtime/device.h"
#include "src/tile/interpreter.h"

namespace sinter::testing_support {

class SlowDevice : public Device {
 public:
  std::function<void()> on_compile = [] {};
  std::atomic<int> compiled = 0;

  std::string name() const override { return "slow"; }
  std::string description() const override { return "a slow compiler"; }
  int parallelism() const override { return 1; }
  Machine machine() const override { return host_->machine(); }
  double copy_bandwidth() override { return 1e9; }
  std::optional<double> peak_flops() override { return std::nullopt; }
  StoragePtr allocate(std::size_t bytes) override { return host_->allocate(bytes); }
  MemoryStats memory() const override { return {}; }
  void reset_peak() override {}
  void release_cached() override {}
  std::size_t available_memory() const override { return host_->available_memory(); }
  bool shares_host_memory() const override { return true; }
  void copy_from_host(void* to, const void* from, std::size_t bytes) override {
    host_->copy(to, from, bytes);
  }
  void copy_to_host(void* to, const void* from, std::size_t bytes) override {
    host_->copy(to, from, bytes);
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    host_->copy(to, from, bytes);
  }
  void synchronize() override {}
  std::unique_ptr<Stopwatch> stopwatch() override { return wall_stopwatch(); }
  RenderTarget render_target() const override { return {}; }
  bool can_compile() const override { return false; }
  KernelPtr compile(const KernelSource&) override { return nullptr; }
  KernelPtr interpret(const tile::TileProgram& program) override {
    ++compiled;
    on_compile();
    return std::make_shared<Kernel>(program);
  }

 private:
  class Kernel : public CompiledKernel {
   public:
    explicit Kernel(tile::TileProgram program) : program_(std::move(program)) {}
    void launch(std::span<const tile::BufferBinding> buffers, std::span<const std::int64_t> scalars,
                std::int64_t grid, double) const override {
      tile::interpret(program_, buffers, scalars, 0, grid);
    }

   private:
    tile::TileProgram program_;
  };

  std::shared_ptr<Device> host_ = open_device("cpu");
};

}  // namespace sinter::testing_support
