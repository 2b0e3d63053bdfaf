// A CUDA device on the fake driver and the fake NVRTC, to test its calls. Out: a CudaDevice and the
// fakes' states. Use one at a time.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "src/cuda/cuda_device.h"
#include "tests/cuda/fake/fake_nvrtc.h"
#include "tests/cuda/fake/load_fake.h"

namespace sinter {

class FakeDevice : public testing::Test {
 protected:
  FakeDevice()
      : fake_(fresh_fake()),
        nvrtc_(fresh_fake_nvrtc()),
        driver_(CudaDriver::load(SINTER_FAKE_CUDA)) {}

  CudaDeviceOptions options(int ordinal = 0) const {
    CudaDeviceOptions options;
    options.ordinal = ordinal;
    options.driver = driver_.get();
    options.nvrtc_paths = {SINTER_FAKE_NVRTC};
    options.cublaslt_paths = {SINTER_FAKE_CUBLASLT};
    return options;
  }
  std::shared_ptr<CudaDevice> make(int ordinal = 0) {
    return std::make_shared<CudaDevice>(options(ordinal));
  }

  static CUstream stream(std::uintptr_t number) { return reinterpret_cast<CUstream>(number); }

  FakeCuda& fake_;
  FakeNvrtc& nvrtc_;
  std::unique_ptr<const CudaDriver> driver_;
};

// Puts the thread on a stream for the scope.
class OnStream {
 public:
  OnStream(CudaDevice& device, CUstream stream)
      : streams_(device.streams()), use_(streams_.enter(stream)) {}
  ~OnStream() { streams_.leave(use_); }
  OnStream(const OnStream&) = delete;
  OnStream& operator=(const OnStream&) = delete;

 private:
  CudaStreams& streams_;
  CudaStreamUse* use_;
};

}  // namespace sinter
