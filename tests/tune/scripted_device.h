// ScriptedDevice: a GPU for the tuner's tests. It is the interpreter on host memory; the test
// scripts a kernel's time, its text and whether it works.
#pragma once

#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "src/base/check.h"
#include "src/runtime/device.h"
#include "src/runtime/kernel_cache.h"

namespace sinter::testing_support {

class HostStorage : public Storage {
 public:
  explicit HostStorage(std::size_t bytes)
      : HostStorage(std::make_unique<std::byte[]>(bytes), bytes) {}

 private:
  HostStorage(std::unique_ptr<std::byte[]> memory, std::size_t bytes)
      : Storage(memory.get(), bytes), memory_(std::move(memory)) {}
  std::unique_ptr<std::byte[]> memory_;
};

class ScriptedDevice : public Device {
 public:
  using Program = tile::TileProgram;

  // The script.
  std::function<double(const Program&)> time_us = [](const Program&) { return 100.0; };
  std::function<std::string(const Program&)> text = [](const Program& program) {
    return key_of(program).hex();
  };
  std::function<void(const Program&)> on_compile = [](const Program&) {};
  std::function<void(const Program&)> on_launch = [](const Program&) {};
  std::function<void(const Program&, std::span<const tile::BufferBinding>)> after_launch =
      [](const Program&, std::span<const tile::BufferBinding>) {};
  double noise = 0;  // relative variation of samples

  // The records.
  std::atomic<int> compiled = 0;
  std::map<std::string, int> samples;  // by text
  std::multiset<std::string> compiled_texts;
  std::multiset<std::string> forgotten_texts;

  std::string name() const override { return name_; }
  std::string description() const override { return "a scripted GPU"; }
  std::string model() const override { return "Scripted GPU sm_90"; }
  int parallelism() const override { return 132; }
  Machine machine() const override {
    Machine machine;
    machine.kind = MachineKind::gpu;
    machine.multiprocessors = 132;
    machine.largest_cluster = 8;
    return machine;
  }
  double copy_bandwidth() override { return 4e12; }
  std::optional<double> peak_flops() override { return 6e13; }
  StoragePtr allocate(std::size_t bytes) override { return std::make_shared<HostStorage>(bytes); }
  MemoryStats memory() const override { return {}; }
  void reset_peak() override {}
  void release_cached() override {}
  std::size_t available_memory() const override { return std::size_t{1} << 30; }
  bool shares_host_memory() const override { return true; }
  void copy_from_host(void* to, const void* from, std::size_t bytes) override {
    copy(to, from, bytes);
  }
  void copy_to_host(void* to, const void* from, std::size_t bytes) override {
    copy(to, from, bytes);
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void synchronize() override {}
  std::unique_ptr<Stopwatch> stopwatch() override { return std::make_unique<Clock>(*this); }
  RenderTarget render_target() const override { return {.dialect = Dialect::cuda}; }
  KernelSource render(const Program& program) const override {
    KernelSource source;
    source.body = text(program);
    return source;
  }
  bool can_compile() const override { return false; }
  KernelPtr compile(const KernelSource&) override { return nullptr; }
  KernelPtr interpret(const Program& program) override {
    const std::lock_guard lock(mutex_);  // scripts need not be thread-safe
    ++compiled;
    on_compile(program);
    compiled_texts.insert(text(program));
    return std::make_shared<Kernel>(*this, program);
  }
  void forget(const KernelBody& body) noexcept override {
    forgotten_texts.insert(text(std::get<Program>(body)));
    Device::forget(body);
  }

  explicit ScriptedDevice(std::string name = "scripted") : name_(std::move(name)) {}

 private:
  class Kernel : public CompiledKernel {
   public:
    Kernel(ScriptedDevice& device, Program program)
        : device_(device), program_(std::move(program)) {}
    void launch(std::span<const tile::BufferBinding> buffers, std::span<const std::int64_t> scalars,
                std::int64_t grid, double) const override {
      device_.on_launch(program_);
      if (!device_.timing_ || device_.computes_when_timed)
        tile::interpret(program_, buffers, scalars, 0, grid);
      device_.after_launch(program_, buffers);
      device_.last_us_ = device_.time_us(program_);
      device_.last_text_ = device_.text(program_);
    }

   private:
    ScriptedDevice& device_;
    Program program_;
  };

  class Clock : public Stopwatch {
   public:
    explicit Clock(ScriptedDevice& device) : device_(device) {}
    double time(const std::function<void()>& run, int calls) override {
      device_.timing_ = true;
      for (int i = 0; i < calls; ++i) run();
      device_.timing_ = false;
      ++device_.samples[device_.last_text_];
      // Alternates with several periods, the same in every run.
      constexpr double kTurns[] = {0.3, -1, 0.6, -0.4, 1, -0.7, 0.1};
      return device_.last_us_ * (1 + device_.noise * kTurns[count_++ % 7]);
    }
    void wait() override {}
    bool resolves_single_calls() const override { return true; }

   private:
    ScriptedDevice& device_;
    std::size_t count_ = 0;
  };

 public:
  bool computes_when_timed = false;  // the interpreter is slow, and the first launch has computed

 private:
  std::string name_;
  std::mutex mutex_;
  bool timing_ = false;
  double last_us_ = 0;
  std::string last_text_;
};

}  // namespace sinter::testing_support
