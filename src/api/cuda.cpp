// Implements sinter/cuda.h with CudaStreams. In: streams as void*. Out: the same; DeviceError
// without a GPU.
#include <sinter/cuda.h>

#include "src/api/devices.h"
#include "src/base/check.h"
#include "src/cuda/cuda_device.h"

namespace sinter {
namespace {

CudaStreams& streams_of(int ordinal) {
  if (ordinal < 0) fail_user("cuda", "there is no GPU {}", ordinal);
  // The registry keeps the device for the life of the process.
  return dynamic_cast<CudaDevice&>(*open_device(cuda_device_name(ordinal))).streams();
}

}  // namespace

void* cuda_stream(int device) { return streams_of(device).current(); }

CudaStreamScope::CudaStreamScope(void* stream, int device)
    : streams_(streams_of(device)), use_(streams_.enter(static_cast<CUstream>(stream))) {}

CudaStreamScope::~CudaStreamScope() { streams_.leave(use_); }

}  // namespace sinter
