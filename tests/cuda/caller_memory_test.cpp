// Memory that the caller gives, on the fake driver: outputs of a call, and an allocator's.
#include <sinter/sinter.h>

#include <algorithm>
#include <atomic>

#include "src/api/call_into.h"
#include "tests/cuda/fake/fake_device.h"
#include "tests/support/gpu.h"

namespace sinter {
namespace {

class CallerMemory : public FakeDevice {
 protected:
  // Calls of the allocator: (what, bytes, stream). Its memory is the host's, never used.
  struct Call {
    std::string what;
    std::size_t bytes = 0;
    void* stream = nullptr;
    friend bool operator==(const Call&, const Call&) = default;
  };
  AllocatorPtr allocator() {
    return std::make_shared<const Allocator>(
        Allocator{[this](std::size_t bytes, std::size_t alignment, void* on) -> void* {
                    EXPECT_EQ(alignment, 256u);
                    EXPECT_EQ(fake_.current, fake_.primary) << "the context is current";
                    calls_.push_back({"allocate", bytes, on});
                    if (refuses_) return nullptr;
                    return reinterpret_cast<void*>(next_ += 4096);
                  },
                  [this](void*, std::size_t bytes, void* on) {
                    fake_.stream_log.push_back("free");
                    calls_.push_back({"free", bytes, on});
                  }});
  }

  std::vector<Call> calls_;
  std::uintptr_t next_ = 1 << 20;
  bool refuses_ = false;
};

Tensor on(const std::shared_ptr<CudaDevice>& device, const Shape& shape) {
  const auto bytes = static_cast<std::size_t>(shape.numel()) * 4;
  return make_tensor(DType::f32, dense_view(shape), device->allocate(bytes), device);
}

TEST_F(CallerMemory, AKernelWritesToTheOutput) {
  const auto device = make();
  const std::vector<Tensor> inputs{on(device, {64, 32})};
  const Tensor memory = on(device, {3, 64, 32});
  for (bool graph : {false, true}) {
    const auto trace =
        trace_function([](std::span<const Tensor> t) { return std::vector<Tensor>{exp(t[0]) + 1}; },
                       inputs, device);
    BuildOptions options;
    options.launch_graph = graph;
    const std::vector<Tensor> outputs{memory[1]};
    const GivenOutputs given(outputs, inputs);
    options.outputs = given.layout();
    fake_.argument_words = 4;
    const auto program = build_traced(*trace, inputs, options);
    EXPECT_TRUE(writes_directly(*program, given));
    const auto before = fake_.calls;
    fake_.launches.clear();
    run_traced_into(*program, given, inputs);
    EXPECT_EQ(fake_.calls["cuMemAlloc"], before.at("cuMemAlloc"));
    EXPECT_EQ(fake_.calls["cuMemcpyDtoDAsync"], 0);
    const auto& kernels = graph ? fake_.graph_nodes : fake_.launches;
    ASSERT_EQ(kernels.size(), 1u);
    const auto& words = kernels[0].words;
    EXPECT_NE(
        std::find(words.begin(), words.end(), reinterpret_cast<std::uintptr_t>(memory[1].data())),
        words.end());
  }
}

TEST_F(CallerMemory, AnAllocatorIsToldTheStream) {
  const auto device = make();
  device->set_allocator(allocator());
  {
    const OnStream scope(*device, stream(0x50));
    const StoragePtr memory = device->allocate(1000);
    EXPECT_EQ(device->memory().in_use, 1000u);
    EXPECT_EQ(device->memory().cached, 0u);
  }
  EXPECT_EQ(calls_,
            (std::vector<Call>{{"allocate", 1000, stream(0x50)}, {"free", 1000, stream(0x50)}}));
  EXPECT_EQ(device->memory().in_use, 0u);
  EXPECT_EQ(device->memory().peak, 1000u);
  EXPECT_EQ(fake_.calls["cuMemAlloc"], 0);
  EXPECT_EQ(fake_.calls["cuMemFree"], 0);
}

TEST_F(CallerMemory, OtherStreamsAreWaitedForBeforeMemoryIsFreed) {
  const auto device = make();
  device->set_allocator(allocator());
  StoragePtr memory = device->allocate(0);
  const OnStream scope(*device, stream(0x50));
  memory->note_use();
  fake_.stream_log.clear();
  const int waits = fake_.calls["cuStreamWaitEvent"];
  memory.reset();
  EXPECT_EQ(fake_.calls["cuStreamWaitEvent"], waits + 1);
  EXPECT_EQ(fake_.stream_log.back(), "free");
  EXPECT_GE(fake_.stream_log.size(), 2u) << "the wait comes first";
  EXPECT_EQ(calls_.back(), (Call{"free", 1, device->streams().own()}));
}

TEST_F(CallerMemory, AStreamThatWasLeftIsNotNamedAgain) {
  const auto device = make();
  device->set_allocator(allocator());
  StoragePtr memory;
  {
    const OnStream scope(*device, stream(0x50));
    memory = device->allocate(8);
  }
  memory.reset();
  EXPECT_EQ(calls_.back(), (Call{"free", 8, device->streams().own()}));
}

TEST_F(CallerMemory, MemoryGoesBackToWhereItCameFrom) {
  const auto device = make();
  StoragePtr own = device->allocate(512);
  device->set_allocator(allocator());
  StoragePtr given = device->allocate(512);
  device->set_allocator(nullptr);
  own.reset();
  EXPECT_EQ(calls_.size(), 1u);
  EXPECT_EQ(device->memory().cached, 512u);
  given.reset();
  EXPECT_EQ(calls_.back().what, "free");
  EXPECT_EQ(device->memory().in_use, 0u);
  EXPECT_EQ(device->allocate(512)->bytes(), 512u);
  EXPECT_EQ(fake_.calls["cuMemAlloc"], 1) << "its own pool again";
}

TEST_F(CallerMemory, CachedMemoryIsReleasedBeforeAnAllocatorFails) {
  const auto device = make();
  device->allocate(512);
  device->set_allocator(allocator());
  refuses_ = true;
  EXPECT_THROW(device->allocate(100), OutOfMemoryError);
  EXPECT_EQ(calls_.size(), 2u) << "asked again";
  EXPECT_EQ(device->memory().cached, 0u);
  EXPECT_EQ(device->memory().in_use, 0u);
  next_ += 8;
  refuses_ = false;
  try {
    device->allocate(100);
    FAIL();
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("not a multiple of 256 bytes"), std::string::npos);
  }
  EXPECT_EQ(calls_.back().what, "free");
}

// --- on a GPU ------------------------------------------------------------------------------------

TEST(GpuCallerMemory, ComesFromTheAllocator) {
  SINTER_NEEDS_GPU();
  const CudaDriver& driver = cuda_driver();
  std::atomic<int> held = 0;
  std::atomic<int> taken = 0;
  set_allocator("cuda", {[&](std::size_t bytes, std::size_t, void*) -> void* {
                           CUdeviceptr address = 0;
                           if (driver.mem_alloc.code(&address, bytes) != 0) return nullptr;
                           ++held;
                           ++taken;
                           return reinterpret_cast<void*>(address);
                         },
                         [&](void* data, std::size_t, void* on) {
                           driver.stream_synchronize.code(static_cast<CUstream>(on));
                           driver.mem_free.code(reinterpret_cast<CUdeviceptr>(data));
                           --held;
                         }});
  const auto f = compile([](const Tensor& t) { return softmax(t - mean(t), 0); }, {.fuse = false});
  {
    const Tensor x = ones({64, 64}).to("cuda");
    Tensor y = x;
    for (int i = 0; i < 10; ++i) y = f(y);
    EXPECT_GT(taken, 11);
    EXPECT_EQ(y.to("cpu").to_vector<float>(), std::vector<float>(64 * 64, 1.0F / 64));
  }
  reset_allocator("cuda");
  EXPECT_EQ(held, 0);
}

}  // namespace
}  // namespace sinter
